"""What a game in which moves take cells says of them: who holds each, and which have won."""

import itertools
from typing import Any

import numpy as np

from plainzero.games.check.problems import Findings, Stop
from plainzero.games.check.random_play import Played, first_difference, rule_place
from plainzero.games.contract import Game


def check_cells(findings: Findings, played: list[Played]) -> None:
    """Each move takes its cell and no other, and a win rests on cells that the winner holds."""
    game = findings.game
    if not game.moves_take_cells:
        return
    if game.num_players != 2:
        findings.add("cells", f"moves_take_cells is for two players, not {game.num_players}")
        raise Stop
    for one in played:
        before = _holders(findings, one.states[0])
        for ply, (state, after) in enumerate(itertools.pairwise(one.states)):
            action = one.actions[ply]
            _check_turn(findings, state, after, one.legal[ply], before)
            expected = [*before[:action], int(state.to_play), *before[action + 1 :]]
            before = _holders(findings, after)
            if before != expected:
                cell = next(i for i, held in enumerate(before) if held != expected[i])
                _add(
                    findings,
                    "holder",
                    f"says {before[cell]} of action {cell}, and not {expected[cell]}, after action "
                    f"{action} of player {state.to_play} at turn {state.turn}",
                )
        _check_win(findings, one.states[-1], before)


def _check_turn(
    findings: Findings, state: Any, after: Any, legal: list[int], holders: list[int]
) -> None:
    """Every free cell may be taken, and nobody moves twice."""
    free = [action for action, held in enumerate(holders) if held == -1]
    if sorted(legal) != free:
        _add(
            findings,
            "legal_actions",
            f"does not write just the free cells at turn {state.turn}; where that is so, leave "
            "moves_take_cells False",
        )
    if after.to_play == state.to_play and not after.is_over:
        _add(
            findings,
            "play",
            f"lets player {state.to_play} move twice at turn {state.turn}; where that is so, leave "
            "moves_take_cells False",
        )


def winning_cells(game: Game, state: Any) -> list[int]:
    """The actions whose cells a finished game is won by."""
    cells = np.zeros(game.num_actions, np.int32)
    game.winning_cells(state, cells)
    return [int(action) for action in np.flatnonzero(cells)]


def _holders(findings: Findings, state: Any) -> list[int]:
    game = findings.game
    with findings.running("holder", f" at turn {state.turn}"):
        return [int(game.holder(state, action)) for action in range(game.num_actions)]


def _check_win(findings: Findings, state: Any, holders: list[int]) -> None:
    game, returns = findings.game, state.returns.tolist()
    if sorted(returns) != [-1.0, 1.0]:
        _add(findings, "play", f"ends a game with {returns}; where moves take cells, one side wins")
    before = game.copy(state)
    with findings.running("winning_cells", f" at turn {state.turn}"):
        cells = winning_cells(game, state)
    winner = returns.index(1.0)
    others = [cell for cell in cells if holders[cell] != winner]
    if not cells or others:
        what = f"marks {others}, which he does not hold" if others else "marks no cell"
        _add(findings, "winning_cells", f"{what}, where player {winner} has won")
    changed = first_difference(game, before, state)
    if changed is not None:
        _add(findings, "winning_cells", f"changes state.{changed}; only play may")


def _add(findings: Findings, rule: str, problem: str) -> None:
    findings.add("cells", f"{rule} {problem} ({rule_place(findings.game, rule)})")
    raise Stop
