"""The compiled rules: they compile, and do the same as in plain Python."""

import math
import warnings

import numpy as np
from numba import njit
from numba.core.errors import NumbaWarning

from plainzero.compiler.bind_rules import RuleError
from plainzero.compiler.cpu_kernels import Kernel
from plainzero.games import rules
from plainzero.games.check.compile_errors import argument_types, explain
from plainzero.games.check.final_scores import owned_cells
from plainzero.games.check.playout_actions import playout_actions, recognised_actions
from plainzero.games.check.problems import Problems
from plainzero.games.check.random_play import Played, first_difference, rule_place
from plainzero.games.check.taken_cells import winning_cells
from plainzero.games.contract import (
    CHANCE,
    Game,
    has_own_playouts,
    has_ownership,
    has_score,
    trial_rule,
)

_CELL_RULES = ("holder", "winning_cells")


@Kernel
def _replay(states, played, legal, counts, probabilities, planes):  # type: ignore[no-untyped-def]
    """Plays the given actions from the start, writing what the rules return for each state."""
    rules.reset(states[0])
    for ply in range(played.shape[0]):
        if states[ply].to_play == CHANCE:
            counts[ply] = rules.chance_outcomes(states[ply], legal[ply], probabilities)
        else:
            counts[ply] = rules.legal_actions(states[ply], legal[ply])
            rules.observe(states[ply], planes[ply])
        states[ply + 1] = states[ply]
        rules.play(states[ply + 1], played[ply])


@Kernel
def _read_cells(states, found):  # type: ignore[no-untyped-def]
    """Writes who holds each cell of a finished game, and which cells have won."""
    for action in range(found.shape[1]):
        found[0, action] = rules.holder(states[0], action)
    rules.winning_cells(states[0], found[1])


@Kernel
def _read_scores(states, scores, cells):  # type: ignore[no-untyped-def]
    """Writes the score of a finished game, and who holds its cells."""
    scores[0] = rules.score(states[0])
    rules.ownership(states[0], cells)


@Kernel
def _list_playouts(states, listed, counts, recognised):  # type: ignore[no-untyped-def]
    """Writes the actions of random playouts for each state in which a player moves."""
    for i in range(states.shape[0]):
        if states[i].to_play != CHANCE:
            counts[i] = rules.playout_actions(states[i], listed[i])
            for action in range(recognised.shape[1]):
                recognised[i, action] = rules.may_play_out(states[i], action)


def check_compiled(problems: Problems, played: list[Played]) -> None:
    """Every rule compiles, and the games played in plain Python go the same way compiled."""
    game = problems.game
    try:
        tag = rules.register(game)
        for rule in rules.rule_names(game):
            rules.bound_rule(tag, rule)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaWarning)
            for one in played:
                if not _check_game_compiled(problems, tag, one):
                    return
    except RuleError as error:
        problems.add("does not compile", str(error))
    except Exception as error:  # Numba's own, and whatever it trips over
        problems.add("does not compile", _failed_rule(game, error))


def _check_game_compiled(problems: Problems, tag: str, one: Played) -> bool:
    """Whether one game went the same way compiled; every position is compared."""
    game, plies = problems.game, len(one.actions)
    states = np.zeros(plies + 1, game.dtype)
    room = max(game.num_actions, game.max_chance_outcomes)
    legal, counts = np.zeros((plies, room), np.int32), np.zeros(plies, np.int64)
    planes = np.zeros((plies, *game.observation_shape), np.float32)
    actions = np.array(one.actions, np.int32)
    _replay(tag, states, actions, legal, counts, np.zeros(room), planes)
    for ply, state in enumerate(one.states):
        differs = first_difference(game, state, states[ply])
        if differs is not None:
            rule, what = "play" if ply else "reset", f"gives another state.{differs}"
        elif ply == plies:
            break
        elif legal[ply, : counts[ply]].tolist() != one.legal[ply]:
            is_chance = state.to_play == CHANCE
            rule, what = "chance_outcomes" if is_chance else "legal_actions", "writes other actions"
        elif state.to_play != CHANCE and not np.allclose(
            planes[ply], game.observation(state), rtol=1e-5, atol=1e-6
        ):
            rule, what = "observe", "writes other planes"
        else:
            continue
        problems.add(
            "compiled differs",
            f"{rule} compiled {what} at turn {ply} than uncompiled: look for small integers "
            f"that overflow, or for a global that changes ({rule_place(game, rule)})",
        )
        return False
    has_playouts = has_own_playouts(game) or trial_rule(game)
    if has_playouts and not _check_playouts_compiled(problems, tag, one):
        return False
    if game.moves_take_cells and not _check_cells_compiled(problems, tag, one):
        return False
    has_end = has_score(game) or has_ownership(game)
    return not has_end or _check_scores_compiled(problems, tag, one)


def _check_playouts_compiled(problems: Problems, tag: str, one: Played) -> bool:
    """Whether random playouts choose among the same actions compiled."""
    game, states = problems.game, np.array(one.states[:-1], problems.game.dtype)
    listed = np.zeros((len(states), game.num_actions), np.int32)
    counts = np.zeros(len(states), np.int64)
    recognised = np.zeros(listed.shape, np.bool_)
    _list_playouts(tag, states, listed, counts, recognised)
    for ply, state in enumerate(one.states[:-1]):
        if state.to_play == CHANCE:
            continue
        if listed[ply, : counts[ply]].tolist() != playout_actions(game, state):
            rule, what = "playout_actions", "writes other actions"
        elif trial_rule(game) and np.flatnonzero(recognised[ply]).tolist() != recognised_actions(
            game, state
        ):
            rule, what = trial_rule(game), "is true of other actions"
        else:
            continue
        problems.add(
            "compiled differs",
            f"{rule} compiled {what} at turn {ply} than uncompiled: look for small integers "
            f"that overflow, or for a global that changes ({rule_place(game, rule)})",
        )
        return False
    return True


def _check_cells_compiled(problems: Problems, tag: str, one: Played) -> bool:
    """Whether the last position's cells are held and have won as uncompiled."""
    game, states = problems.game, np.array(one.states[-1:], problems.game.dtype)
    found = np.zeros((2, game.num_actions), np.int32)
    _read_cells(tag, states, found)
    held = [int(game.holder(states[0], action)) for action in range(game.num_actions)]
    won = np.flatnonzero(found[1]).tolist() == winning_cells(game, states[0])
    for rule, is_alike in zip(_CELL_RULES, (found[0].tolist() == held, won), strict=True):
        if not is_alike:
            problems.add(
                "compiled differs",
                f"{rule} gives another result compiled than uncompiled: look for small integers "
                f"that overflow, or for a global that changes ({rule_place(game, rule)})",
            )
            return False
    return True


def _check_scores_compiled(problems: Problems, tag: str, one: Played) -> bool:
    """Whether the last position's score and ownership are those of uncompiled rules."""
    game, states = problems.game, np.array(one.states[-1:], problems.game.dtype)
    scores, cells = np.zeros(1), np.zeros(math.prod(game.observation_shape[1:]), np.float32)
    _read_scores(tag, states, scores, cells)
    found = {
        "score": np.isclose(scores[0], game.score(states[0])),
        "ownership": np.allclose(cells, owned_cells(game, states[0])),
    }
    for rule, is_alike in found.items():
        if not is_alike:
            problems.add(
                "compiled differs",
                f"{rule} gives another result compiled than uncompiled: look for small integers "
                f"that overflow, or for a global that changes ({rule_place(game, rule)})",
            )
            return False
    return True


def _failed_rule(game: Game, error: Exception) -> str:
    """Compiles rule by rule to name the one that fails, its line, and what to write instead."""
    for rule, arguments in argument_types(game).items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaWarning)
                njit(rules.bound_rule(game.tag, rule)).compile(arguments)
        except Exception as own_error:
            return f"{rule} does not compile {explain(game, rule, own_error)}"
    return f"the rules do not compile {explain(game, 'play', error)}"
