"""Other programs' search and self-play, run in separate processes by a Python that has them.

Nothing here imports PlainZero: the two scripts are started by path and import the other modules
from their own folder.
"""
