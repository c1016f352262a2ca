"""The actions among which random playouts choose, if a game declares them."""

from typing import Any

import numpy as np

from plainzero.games.check.guarded_actions import exceeds_room, guarded_actions
from plainzero.games.check.problems import Problems, Stop
from plainzero.games.check.random_play import Played, first_difference, rule_place
from plainzero.games.contract import CHANCE, Game, has_own_playouts

_POSITIONS = 2000


def check_playouts(problems: Problems, played: list[Played]) -> None:
    """Each position has some playout actions, each once, and all of them are legal."""
    game = problems.game
    if not has_own_playouts(game):
        return
    positions = [
        (state, legal)
        for one in played
        for state, legal in zip(one.states, one.legal, strict=False)  # the last one is over
        if state.to_play != CHANCE
    ]
    for state, legal in positions[:_POSITIONS]:
        problem = _problem(problems, state, legal)
        if problem:
            where = f"at turn {state.turn}; {rule_place(game, 'playout_actions')}"
            problems.add("playout actions", f"playout_actions {problem} ({where})")
            raise Stop


def playout_actions(game: Game, state: Any) -> list[int]:
    """The actions among which a random playout chooses."""
    actions = np.zeros(game.num_actions, np.int32)
    return [int(action) for action in actions[: game.playout_actions(state, actions)]]


def _problem(problems: Problems, state: Any, legal: list[int]) -> str:
    game = problems.game
    before = game.copy(state)
    actions = guarded_actions(game.num_actions)
    with problems.running("playout_actions", f" at turn {state.turn}"):
        count = int(game.playout_actions(state, actions))
    listed = actions[: max(count, 0)].tolist()
    if exceeds_room(actions, count, game.num_actions):
        return f"writes or counts more than num_actions = {game.num_actions} actions"
    if count == 0:
        return (
            "finds nothing to play although the game is not over; write at least one legal action"
        )
    if not set(listed) <= set(legal):
        others = sorted(set(listed) - set(legal))
        return f"writes actions that are not legal, or counts too many: {others}"
    if len(set(listed)) < count:
        return f"writes an action twice: {listed}"
    changed = first_difference(game, before, state)
    return "" if changed is None else f"changes state.{changed}; only play may"
