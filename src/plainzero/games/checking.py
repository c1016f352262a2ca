"""The check of a game: tries the contract by random play, and says in one line what is wrong.

`check_game` first plays uncompiled (`check_playing.py`, and what only some games have:
`check_playouts.py`, `check_cells.py`), then looks at
observations, names and the board (`check_views.py`), at symmetries (`check_symmetries.py`), and
last at the compiled rules (`check_compiling.py`). A step whose ground is missing is left out: where
plain play fails, nothing is said of symmetries.
"""

import contextlib

import numpy as np

from plainzero.games.check.compiled_rules import check_compiled
from plainzero.games.check.playout_actions import check_playouts
from plainzero.games.check.problems import Finding, Findings, Stop
from plainzero.games.check.random_play import check_declarations, check_repeated, play_games
from plainzero.games.check.symmetries import check_symmetries
from plainzero.games.check.taken_cells import check_cells
from plainzero.games.check.views import check_names, check_observations, check_set_up, check_view
from plainzero.games.contract import Game

__all__ = ["Finding", "check_game"]


def check_game(game: Game, games: int = 20, seed: int = 0) -> list[Finding]:
    """Everything found to be wrong with the game, at most one finding of a kind; none is good.

    Args:
        game: the game to check.
        games: random games to play; a long game stops the playing early, but two are always played.
        seed: of the random play, so that a finding can be had again.
    """
    findings = Findings(game)
    # Small integers may overflow on purpose; where that matters, the compiled rules will differ.
    with contextlib.suppress(Stop), np.errstate(all="ignore"):
        check_declarations(findings)
        played = play_games(findings, games, seed)
        check_repeated(findings, played)
        check_playouts(findings, played)
        check_cells(findings, played)
        if not findings:
            check_observations(findings, played)
            check_names(findings)
            check_view(findings, played)
        if not findings:
            check_set_up(findings, played)
            check_symmetries(findings, played)
        if not findings:
            check_compiled(findings, played)
    return list(findings)
