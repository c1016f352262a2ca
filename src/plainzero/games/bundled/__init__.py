"""The bundled games: one module each, or one package."""
