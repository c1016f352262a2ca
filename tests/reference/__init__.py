"""A second implementation of docs/algorithm.md in plain Python: slow, and obviously correct.

It shares only the options and the random numbers with `plainzero.search`, so if the two disagree,
one of them is wrong. `search.py` is the algorithm; the other files are its formulas.
"""

from .search import ReferenceResult, ReferenceSearcher, reference_search

__all__ = ["ReferenceResult", "ReferenceSearcher", "reference_search"]
