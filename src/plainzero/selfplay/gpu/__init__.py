"""Self-play on a GPU: `player` plays thousands of games, `harvest` brings finished ones back."""
