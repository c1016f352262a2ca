"""The default search options of self-play follow the game."""

import pytest

from plainzero import make_game
from plainzero.bench.learning import STRANGER_GAMES
from plainzero.games.registry import bundled_games
from plainzero.selfplay.game_traits import most_legal_moves
from plainzero.selfplay.search_defaults import default_search, is_starved


@pytest.mark.parametrize(
    ("name", "moves"),
    [("tic-tac-toe", 9), ("connect-four", 7), ("gomoku", 225), ("hex(size=7)", 49), ("pig", 2)],
)
def test_the_most_legal_moves_are_those_of_early_positions(name, moves):
    assert most_legal_moves(make_game(name)) == moves


def test_many_moves_are_searched_by_gumbel_on_a_gpu():
    assert default_search(make_game("gomoku"), "cuda").selection == "gumbel"
    assert default_search(make_game("gomoku(size=9)"), "cuda").selection == "puct"
    assert default_search(make_game("connect-four"), "cuda").simulations == 32


@pytest.mark.parametrize("name", [*bundled_games(), *STRANGER_GAMES])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_no_default_is_starved(name, device):
    game = make_game(name)
    search = default_search(game, device)
    assert search.selection == "gumbel" or not is_starved(search.simulations, game)
