"""The search of docs/algorithm.md once more, in plain Python: slow, and made to be obviously right.

It shares nothing with `plainzero.search` but the options and the random numbers, so where the two
disagree one of them is wrong. `search.py` is the whole; the other files are its formulas.
"""

from .search import ReferenceResult, ReferenceSearcher, reference_search

__all__ = ["ReferenceResult", "ReferenceSearcher", "reference_search"]
