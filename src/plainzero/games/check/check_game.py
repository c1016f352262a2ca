"""The check of a game: tries the contract by random play, and says in one line what is wrong.

`check_game` first plays in plain Python (`random_play.py`, `replayed_games.py`, and for some games
`playout_actions.py`, `taken_cells.py` and `final_scores.py`), then looks at observations, names
and the board (`views.py`), at symmetries (`symmetries.py`), and last at the compiled rules
(`compiled_rules.py`, `gpu_rules.py`). Each step needs the ones before: if plain play fails,
symmetries are not checked. `quick_check.py` is the short form that runs before a game is first
searched.
"""

import contextlib

import numpy as np

from plainzero.games.check.compiled_rules import check_compiled
from plainzero.games.check.final_scores import check_scores
from plainzero.games.check.gpu_rules import check_gpu
from plainzero.games.check.playout_actions import check_playouts
from plainzero.games.check.problems import Problem, Problems, Stop
from plainzero.games.check.quick_check import remember_checked
from plainzero.games.check.random_play import check_declarations, check_players, play_games
from plainzero.games.check.replayed_games import check_overflow, check_repeated
from plainzero.games.check.symmetries import check_board_actions, check_symmetries
from plainzero.games.check.taken_cells import check_cells
from plainzero.games.check.views import check_names, check_observations, check_set_up, check_view
from plainzero.games.contract import Game

__all__ = ["Problem", "check_game"]


def check_game(game: Game, games: int = 20, seed: int = 0) -> list[Problem]:
    """Everything found to be wrong with the game, at most one problem per kind.

    A problem whose `severity` is "cpu only" keeps the game from running on a GPU, and from nothing
    else.

    Args:
        game: the game to check.
        games: random games to play; long games end the playing early, but two are always played.
        seed: random seed, so that a problem can be reproduced.
    """
    problems = Problems(game)
    # NumPy's warnings about small integers are silenced: `check_overflow` finds what matters.
    with contextlib.suppress(Stop), np.errstate(all="ignore"), problems.watchdog.awake():
        check_declarations(problems)
        played = play_games(problems, games, seed)
        check_repeated(problems, played)
        check_playouts(problems, played)
        check_cells(problems, played)
        check_scores(problems, played)
        if not problems:
            check_players(problems, played)
            check_overflow(problems, played)
            check_observations(problems, played)
            check_names(problems)
            check_view(problems, played)
        if not problems:
            check_set_up(problems, played)
            check_symmetries(problems, played)
        if not problems:
            check_board_actions(problems)
        if not problems:
            remember_checked(game)
            check_compiled(problems, played)
        if not problems:
            check_gpu(problems)
    return list(problems)
