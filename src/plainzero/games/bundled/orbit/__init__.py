"""Satellite pursuit: `rules` is the game, `motion` the orbital mechanics, `drawing` the board."""
