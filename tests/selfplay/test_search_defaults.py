"""The default search options of self-play follow the game."""

import pytest

from plainzero import make_game
from plainzero.bench.learning import STRANGER_GAMES
from plainzero.games.registry import bundled_games
from plainzero.selfplay.config import SelfPlayConfig, resolve_selfplay
from plainzero.selfplay.game_traits import MOST_PLIES, traits_of
from plainzero.selfplay.search_defaults import chosen_search, default_search, is_starved
from plainzero.training.saved_run import playing_search


@pytest.mark.parametrize(
    ("name", "most_moves", "longest"),
    [
        ("tic-tac-toe", 9, 9),
        ("connect-four", 7, 35),
        ("gomoku", 225, MOST_PLIES),
        ("hex(size=5)", 25, 25),
        ("pig", 2, MOST_PLIES),
    ],
)
def test_traits_are_seen_in_random_games(name, most_moves, longest):
    assert traits_of(make_game(name)) == (most_moves, longest)


@pytest.mark.parametrize(
    ("name", "plies"), [("othello(size=6)", 25), ("gomoku", 32), ("tic-tac-toe", 6), ("2048", 0)]
)
def test_random_openings_leave_a_part_of_the_game(name, plies):
    assert resolve_selfplay(SelfPlayConfig(), make_game(name)).opening_plies == plies


def test_many_moves_are_searched_by_gumbel_on_a_gpu():
    assert default_search(make_game("gomoku"), "cuda").selection == "gumbel"
    assert default_search(make_game("gomoku(size=9)"), "cuda").selection == "puct"
    assert default_search(make_game("connect-four"), "cuda").simulations == 32


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_scores_of_games_for_one_are_rescaled_by_gumbel(device):
    search = default_search(make_game("2048"), device)
    assert (search.selection, search.gumbel_rescale) == ("gumbel", True)
    assert not default_search(make_game("gomoku"), device).gumbel_rescale
    chosen = chosen_search(make_game("2048"), device, ["search.selection=puct"])
    assert not chosen.gumbel_rescale  # which PUCT would refuse


def test_a_single_player_is_played_by_puct_that_follows_the_spread_of_scores():
    game = make_game("2048")
    search = playing_search(game, default_search(game), 100)
    assert (search.selection, search.gumbel_rescale) == ("auto", False)
    assert search.c_puct_spread == 1.0
    chosen = chosen_search(game, "cpu", ["search.selection=puct", "search.c_puct_spread=0.85"])
    assert playing_search(game, chosen, 100).c_puct_spread == 0.85


def test_rescaling_has_its_own_scale():
    for name, is_rescaled, scale in (("2048", "false", 1.0), ("gomoku", "true", 0.1)):
        setting = f"search.gumbel_rescale={is_rescaled}"
        assert chosen_search(make_game(name), "cuda", [setting]).gumbel_c_scale == scale
    settings = ["search.gumbel_rescale=true", "search.gumbel_c_scale=0.5"]
    assert chosen_search(make_game("gomoku"), "cuda", settings).gumbel_c_scale == 0.5


@pytest.mark.parametrize("name", [*bundled_games(), *STRANGER_GAMES])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_no_default_is_starved(name, device):
    game = make_game(name)
    search = default_search(game, device)
    assert search.selection == "gumbel" or not is_starved(search.simulations, game)
