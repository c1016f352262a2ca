"""Games in which moves take cells: who holds each cell, and which cells have won."""

import itertools
from typing import Any

import numpy as np

from plainzero.games.check.problems import Problems, Stop
from plainzero.games.check.random_play import Played, first_difference, rule_place
from plainzero.games.contract import Game


def check_cells(problems: Problems, played: list[Played]) -> None:
    """Each move takes exactly its cell, and the winner holds the winning cells."""
    game = problems.game
    if not game.moves_take_cells:
        return
    if game.num_players != 2:
        problems.add("cells", f"moves_take_cells is for two players, not {game.num_players}")
        raise Stop
    for one in played:
        before = _holders(problems, one.states[0])
        for ply, (state, after) in enumerate(itertools.pairwise(one.states)):
            action = one.actions[ply]
            _check_turn(problems, state, after, one.legal[ply], before)
            expected = [*before[:action], int(state.to_play), *before[action + 1 :]]
            before = _holders(problems, after)
            if before != expected:
                cell = next(i for i, held in enumerate(before) if held != expected[i])
                _add(
                    problems,
                    "holder",
                    f"says {before[cell]} of action {cell}, and not {expected[cell]}, after action "
                    f"{action} of player {state.to_play} at turn {state.turn}",
                )
        _check_win(problems, one.states[-1], before)


def _check_turn(
    problems: Problems, state: Any, after: Any, legal: list[int], holders: list[int]
) -> None:
    """Every free cell may be taken, and nobody moves twice."""
    free = [action for action, held in enumerate(holders) if held == -1]
    if sorted(legal) != free:
        _add(
            problems,
            "legal_actions",
            f"does not write exactly the free cells at turn {state.turn}; if that is intended, "
            "leave moves_take_cells False",
        )
    if after.to_play == state.to_play and not after.is_over:
        _add(
            problems,
            "play",
            f"lets player {state.to_play} move twice at turn {state.turn}; if that is intended, "
            "leave moves_take_cells False",
        )


def winning_cells(game: Game, state: Any) -> list[int]:
    """The actions whose cells win a finished game."""
    cells = np.zeros(game.num_actions, np.int32)
    game.winning_cells(state, cells)
    return [int(action) for action in np.flatnonzero(cells)]


def _holders(problems: Problems, state: Any) -> list[int]:
    game = problems.game
    with problems.running("holder", f" at turn {state.turn}"):
        return [int(game.holder(state, action)) for action in range(game.num_actions)]


def _check_win(problems: Problems, state: Any, holders: list[int]) -> None:
    game, returns = problems.game, state.returns.tolist()
    if sorted(returns) != [-1.0, 1.0]:
        _add(problems, "play", f"ends a game with {returns}; where moves take cells, one side wins")
    before = game.copy(state)
    with problems.running("winning_cells", f" at turn {state.turn}"):
        cells = winning_cells(game, state)
    winner = returns.index(1.0)
    others = [cell for cell in cells if holders[cell] != winner]
    if not cells or others:
        what = f"marks {others}, which the winner does not hold" if others else "marks no cell"
        _add(problems, "winning_cells", f"{what}, although player {winner} has won")
    changed = first_difference(game, before, state)
    if changed is not None:
        _add(problems, "winning_cells", f"changes state.{changed}; only play may")


def _add(problems: Problems, rule: str, problem: str) -> None:
    problems.add("cells", f"{rule} {problem} ({rule_place(problems.game, rule)})")
    raise Stop
