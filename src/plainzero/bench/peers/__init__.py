"""Other programs' self-play, each played in processes of its own by whatever Python has them.

Nothing here imports PlainZero: `serve.py` is started by its path, and finds the others beside it.
"""
