"""The actions among which random playouts choose, if a game declares or recognises them."""

import math
from typing import Any

import numpy as np

from plainzero.games.check.guarded_actions import exceeds_room, guarded_actions
from plainzero.games.check.problems import Problems, Stop
from plainzero.games.check.random_play import Played, first_difference, rule_place
from plainzero.games.contract import CHANCE, Game, has_own_playouts, trial_rule

_POSITIONS = 2000
_MOST_NAMED = 10
_TRIALS = 50_000  # pairs of a position and an action that are tried


def check_playouts(problems: Problems, played: list[Played]) -> None:
    """Each position has some playout actions, each once, all legal, and recognised as such."""
    game = problems.game
    positions = [
        (state, legal)
        for one in played
        for state, legal in zip(one.states, one.legal, strict=False)  # the last one is over
        if state.to_play != CHANCE
    ]
    if has_own_playouts(game):
        for state, legal in positions[:_POSITIONS]:
            problem = _problem(problems, state, legal)
            _report(problems, "playout_actions", state, problem)
    elif type(game).is_playout_action is not Game.is_playout_action:
        message = "is_playout_action has no effect without playout_actions; write is_legal instead"
        problems.add("unused rule", message)
    if trial_rule(game):
        step = max(1, math.ceil(len(positions) * game.num_actions / _TRIALS))
        for state, _ in positions[::step]:
            _report(problems, trial_rule(game), state, _problem_of_trials(problems, state))


def _report(problems: Problems, rule: str, state: Any, problem: str) -> None:
    if problem:
        where = f"at turn {state.turn}; {rule_place(problems.game, rule)}"
        problems.add("playout actions", f"{rule} {problem} ({where})")
        raise Stop


def playout_actions(game: Game, state: Any) -> list[int]:
    """The actions among which a random playout chooses."""
    actions = np.zeros(game.num_actions, np.int32)
    return [int(action) for action in actions[: game.playout_actions(state, actions)]]


def recognised_actions(game: Game, state: Any) -> list[int]:
    """The actions of which the game says that a playout may play them."""
    is_recognised = getattr(game, trial_rule(game))
    return [action for action in range(game.num_actions) if is_recognised(state, action)]


def _problem_of_trials(problems: Problems, state: Any) -> str:
    game = problems.game
    before, rule = game.copy(state), trial_rule(game)
    with problems.running(rule, f" at turn {state.turn}"):
        found = recognised_actions(game, state)
    changed = first_difference(game, before, state)
    if changed is not None:
        return f"changes state.{changed}; only play may"
    listed = sorted(playout_actions(game, state))
    if found == listed or (not found and has_own_playouts(game)):
        return ""
    wrong = sorted({*found} ^ {*listed})
    lists = "playout_actions" if has_own_playouts(game) else "legal_actions"
    return f"and {lists} differ on the actions {wrong[:_MOST_NAMED]}"


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
