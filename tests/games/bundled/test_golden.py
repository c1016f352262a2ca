"""One recorded game of each bundled game, compared with a text that was checked by hand."""

import importlib.util
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[2] / "golden"


def _regenerate():
    spec = importlib.util.spec_from_file_location("regenerate", GOLDEN / "regenerate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REGENERATE = _regenerate()


@pytest.mark.parametrize("file", REGENERATE.GAMES)
def test_playthrough_is_the_golden_one(file: str) -> None:
    golden = (GOLDEN / f"{file}.txt").read_text()
    assert REGENERATE.playthrough(REGENERATE.GAMES[file]) == golden


def test_every_golden_file_belongs_to_a_game() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(REGENERATE.GAMES)
