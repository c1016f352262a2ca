"""What the compiler leaves behind."""

import numba
import pytest

from plainzero import SearchConfig, make_game, search
from plainzero.games.rules import register
from plainzero.search import cpu

pytestmark = pytest.mark.slow


def test_entry_points_define_no_function_that_another_game_could_share(tmp_path, monkeypatch):
    """Inner functions must be inlined away.

    Their symbols carry numbers of types that differ between processes; were they still in two
    cached entry points, the loader could give one game the other's code.
    """
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # nothing comes from there
    game = make_game("tic-tac-toe(size=2)")
    search(game, game.new_state(), "rollout", SearchConfig(simulations=5))
    (result,) = cpu.simulate_games.compiled(register(game)).overloads.values()
    names = [function.name for function in result.library.get_defined_functions()]
    assert names
    assert {name for name in names if game.tag not in name} <= {"NRT_incref", "NRT_decref"}
