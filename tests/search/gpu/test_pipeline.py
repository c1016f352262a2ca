"""Games are split into parts, and every part plays its rounds in order."""

import itertools
from types import SimpleNamespace

import pytest

from plainzero.search.gpu.pipeline import Pipeline, make_parts


class Counted:
    """A batch that counts its calls, and is as strict as a GPU's graphs."""

    def __init__(self, rows):
        self.rows, self.runs = rows, 0
        self._begun, self._is_read = False, False

    def run(self):
        assert not self._begun, "reads leaves before they are written"
        self._is_read = True
        self.runs += 1

    def answer(self):
        assert self._is_read and self._begun
        self._is_read = False

    def on_side_stream(self, work):
        assert not self._begun
        self._begun = True
        work()

    def join_side_stream(self):
        self._begun = False

    def record(self, work):
        def again():
            work()
            assert not self._begun, "a graph ends before the work started in it"

        return again


@pytest.mark.parametrize(
    ("at_once", "games", "leaves", "count", "bounds"),
    [
        (0, 50, 1, 3, [0, 50]),  # a network without tiles
        (10, 10, 1, 3, [0, 10]),
        (10, 11, 1, 3, [0, 10, 11]),
        (10, 38, 1, 3, [0, 20, 30, 38]),
        (10, 38, 1, 2, [0, 20, 38]),
        (10, 38, 1, 1, [0, 38]),
        (10, 70, 1, 3, [0, 30, 50, 70]),
        (10, 11, 3, 2, [0, 6, 11]),
        (10, 11, 20, 3, [0, 11]),  # a game has more leaves than a tile
        (10, 0, 1, 0, [0, 0]),
        (10, 110, 1, 0, [0, 40, 80, 110]),
        (10, 120, 1, 0, [0, 60, 120]),  # large parts
    ],
)
def test_parts_are_whole_tiles_except_the_last(at_once, games, leaves, count, bounds):
    evaluator = SimpleNamespace(rows_at_once=at_once, leaf_batch=lambda rows: rows)
    parts = make_parts(evaluator, games, leaves, count)
    assert [(part.first, part.last) for part in parts] == list(itertools.pairwise(bounds))
    assert all(part.batch == (part.last - part.first) * leaves for part in parts)


@pytest.mark.parametrize("is_repeated", [False, True])
@pytest.mark.parametrize(("games", "count"), [(8, 1), (25, 3), (38, 2)])
@pytest.mark.parametrize("calls", [(1,), (2,), (3, 1), (9, 75), (0, 5)])
def test_every_part_plays_every_round_once(games, count, calls, is_repeated):
    turns = []
    evaluator = SimpleNamespace(rows_at_once=10, leaf_batch=Counted)
    parts = make_parts(evaluator, games, count=count)
    pipeline = Pipeline(parts, lambda part, *steps: turns.append((part.first, *steps)), is_repeated)
    for rounds in calls:
        pipeline.play(rounds)
    for part in parts:
        mine = [steps for first, *steps in turns if first == part.first]
        assert part.batch.runs == sum(calls)
        assert sum(finishes for finishes, _ in mine) == sum(calls)
        assert sum(selects for _, selects in mine) == sum(calls)
        assert mine[0] == [False, True] and mine[-1] == [True, False]
