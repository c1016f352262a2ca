"""Records written field by field and as vectors are equal."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from plainzero import make_game
from plainzero.search.kernels.tree import edge_dtype, node_dtype
from plainzero.search.kernels.wide_copies import fill_record, store_fields, store_vectors

VALUES = (0.5, -1.5, 0.25, 7, -1, 41)


def filled_by(fill):
    """Two records of a tree's edges, the second written by a compiled function."""
    edges = np.zeros(2, edge_dtype())
    njit(lambda edges, values: fill(edges[1], values))(edges, VALUES)
    return edges


def test_records_filled_by_fields_and_by_vectors_are_equal():
    expected = np.zeros(2, edge_dtype())
    fill_record(expected[1], VALUES)
    assert expected[1].item() == VALUES
    for fill in (fill_record, store_fields, store_vectors):
        assert np.array_equal(filled_by(fill), expected)


def test_vectors_are_refused_for_records_of_other_sizes():
    records = np.zeros(2, node_dtype(make_game("trio")))
    with pytest.raises((AssertionError, TypingError)):
        njit(lambda records: store_vectors(records[1], (1, 2)))(records)
