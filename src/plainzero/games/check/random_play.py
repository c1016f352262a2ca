"""Random games without the compiler: moves, players, chance, returns, length."""

import inspect
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.check.guarded_actions import exceeds_room, guarded_actions
from plainzero.games.check.problems import Problems, Stop
from plainzero.games.contract import CHANCE, Game

_PLIES = 2000  # takes a few seconds
_TOLERANCE = 1e-6


class Played(NamedTuple):
    """One random game: its positions, and what was played in each."""

    states: list[Any]
    actions: list[int]  # one fewer
    legal: list[list[int]]  # the legal actions of each, or the outcomes of chance


def fields_of(game: Game, state: Any) -> dict[str, NDArray[Any]]:
    """A state's fields by name, without padding and the field that carries the tag."""
    return {name: np.array(state[name]) for name in state.dtype.names if name != game.tag}


def first_difference(game: Game, state: Any, other: Any) -> str | None:
    """The field in which two states differ, or None; floats may differ by rounding."""
    for name, value in fields_of(game, state).items():
        same = np.array_equal(value, other[name])
        if not same and value.dtype.kind == "f":
            same = np.allclose(value, other[name], rtol=1e-5, atol=_TOLERANCE, equal_nan=True)
        if not same:
            return name
    return None


def check_declarations(problems: Problems) -> None:
    """Sizes and fields are valid, and the game can be observed."""
    game, name = problems.game, type(problems.game).__name__
    for attribute in ("num_actions", "max_turns", "max_chance_outcomes"):
        value = getattr(game, attribute)
        if type(value) is not int or value < 1:
            problems.add("declaration", f"{name}.{attribute} must be a positive int, not {value!r}")
    shape = game.observation_shape
    if not (isinstance(shape, tuple) and shape and all(type(n) is int and n > 0 for n in shape)):
        problems.add(
            "declaration",
            f"{name}.observation_shape must be a tuple of positive ints, not {shape!r}",
        )
    if type(game).observe is Game.observe:
        problems.add(
            "no observe",
            f"{name} has no observe(): a network would see nothing; write the position into planes",
        )
    _check_fields(problems)
    if any(problem.kind in ("declaration", "fields") for problem in problems):
        raise Stop


def _check_fields(problems: Problems) -> None:
    game, name = problems.game, type(problems.game).__name__
    try:
        for key, value in game.fields().items():
            if value.dtype.kind not in "iufb" or value.dtype.str == "<f2":
                problems.add(
                    "fields",
                    f"{name}.fields(): {key} has type {value.dtype}; use a NumPy integer, "
                    "np.bool_, np.float32 or np.float64",
                )
        assert game.dtype.itemsize > 0
    except Exception as error:
        problems.add(
            "fields",
            f"{name}.fields() gives no state record: {error} ({rule_place(game, 'fields')}); "
            'return {"board": field(np.int8, (3, 3)), …}',
        )


def play_games(problems: Problems, games: int, seed: int) -> list[Played]:
    """Plays random games to their end, checking each ply; unfinished ones are left out."""
    played = []
    plies = 0
    for number in range(games):
        if number >= 2 and plies > _PLIES:
            break
        try:
            played.append(_play_one(problems, np.random.default_rng((seed, number))))
            plies += len(played[-1].actions)
        except Stop:
            break
    return played


def play_moves(problems: Problems, moves: int) -> list[Played]:
    """Plays that number of random moves, each checked; the last game may be unfinished.

    Raises:
        Stop: when a rule breaks the contract.
    """
    played: list[Played] = []
    while moves > 0:
        played.append(_play_one(problems, np.random.default_rng((0, moves)), moves))
        moves -= max(1, len(played[-1].actions))
    return played


def _play_one(
    problems: Problems, rng: np.random.Generator, most_moves: int | None = None
) -> Played:
    game = problems.game
    with problems.running("reset"):
        state = game.new_state()
    played = Played([], [], [])
    while True:
        _check_standing(problems, state)
        played.states.append(game.copy(state))
        if state.is_over or len(played.actions) == most_moves:
            return played
        if state.turn >= game.max_turns:
            problems.add(
                "length",
                f"a game is not over after max_turns = {game.max_turns} plays; end it, or give a "
                f"true upper bound ({rule_place(game, 'play')})",
            )
            raise Stop
        legal, weights = moves(problems, state)
        action = legal[rng.choice(len(legal), p=weights)]
        step(problems, state, action)
        played.actions.append(action)
        played.legal.append(legal)


def _check_standing(problems: Problems, state: Any) -> None:
    """The player to move exists, and the returns fit a game that is over or not."""
    game, where = problems.game, f"at turn {state.turn}"
    if not state.is_over and not CHANCE <= state.to_play < game.num_players:
        problems.add(
            "player",
            f"to_play is {state.to_play} {where}; it must be 0 to {game.num_players - 1}, or "
            f"CHANCE ({rule_place(game, 'play')})",
        )
        raise Stop
    returns = np.array(state.returns, np.float64)
    place = rule_place(game, "play")
    if not state.is_over and returns.any():
        problems.add(
            "early returns",
            f"returns are {returns} {where}, and the game is not over; write them at its end only, "
            f"with win, draw or finish ({place})",
        )
    if not np.all(np.abs(returns) <= 1 + _TOLERANCE):  # also false for NaN
        problems.add(
            "returns range", f"returns are {returns} {where}; each must be in [-1, 1] ({place})"
        )
    elif game.num_players > 1 and abs(returns.sum()) > _TOLERANCE:
        problems.add(
            "zero sum",
            f"returns {returns} add up to {returns.sum():g} {where}; what one player wins "
            f"the others must lose ({place})",
        )


def check_players(problems: Problems, played: list[Played]) -> None:
    """Every player gets to move, in games long enough to tell."""
    game = problems.game
    movers = [[int(s.to_play) for s in one.states[:-1] if s.to_play != CHANCE] for one in played]
    idle = sorted(set(range(game.num_players)) - {mover for one in movers for mover in one})
    count = sum(map(len, movers))
    if idle and max(map(len, movers), default=0) >= game.num_players and count >= 2 * len(idle):
        names = " and ".join(map(str, idle))
        problems.add(
            "player",
            f"player {names} never moves in {len(played)} games with {count} moves; end a turn "
            f"with self.end_turn(state), or set state.to_play ({rule_place(game, 'play')})",
        )


def _as_count(returned: Any) -> int:
    if not isinstance(returned, int | np.integer):
        raise TypeError(f"it must return the number of actions it wrote, not {returned!r}")
    return int(returned)


def moves(problems: Problems, state: Any) -> tuple[list[int], NDArray[np.float64]]:
    """The possible actions and their probabilities, after checking how the rules write them."""
    if state.to_play == CHANCE:
        return _outcomes(problems, state)
    game, where = problems.game, f"at turn {state.turn}"
    before = game.copy(state)
    actions = guarded_actions(game.num_actions)
    with problems.running("legal_actions", f" {where}"):
        count = _as_count(game.legal_actions(state, actions))
    problem = ""
    listed = actions[: max(count, 0)].tolist()
    if exceeds_room(actions, count, game.num_actions):
        problem = f"writes or counts more than num_actions = {game.num_actions} actions"
    elif count == 0:
        problem = (
            "finds no legal action although the game is not over; end it in play, or add a pass"
        )
    elif not all(0 <= action < game.num_actions for action in listed):
        problem = (
            f"writes an action outside 0 to {game.num_actions - 1}, or counts too many: {listed}"
        )
    elif len(set(listed)) < count:
        problem = f"writes an action twice: {listed}"
    elif first_difference(game, before, state) is not None:
        problem = f"changes state.{first_difference(game, before, state)}; only play may"
    if problem:
        place = rule_place(game, "legal_actions")
        problems.add("legal actions", f"legal_actions {problem} ({where}; {place})")
        raise Stop
    return listed, np.full(count, 1 / count)


def _outcomes(problems: Problems, state: Any) -> tuple[list[int], NDArray[np.float64]]:
    game, room = problems.game, problems.game.max_chance_outcomes
    outcomes = guarded_actions(room)
    probabilities = np.full(len(outcomes), np.nan)
    with problems.running("chance_outcomes", f" at turn {state.turn}"):
        count = int(game.chance_outcomes(state, outcomes, probabilities))
    listed, weights = outcomes[: max(count, 0)].tolist(), probabilities[: max(count, 0)]
    problem = ""
    if exceeds_room(outcomes, count, room):
        problem = f"writes or counts more than max_chance_outcomes = {room} outcomes"
    elif count == 0:
        problem = "finds no outcome although to_play is CHANCE"
    elif len(set(listed)) < count:
        problem = f"writes an outcome twice: {listed}"
    elif min(listed) < 0:
        problem = f"writes a negative outcome, or counts too many: {listed}"
    elif not (weights >= 0).all():
        problem = f"writes a probability that is negative or NaN: {weights}"
    elif abs(weights.sum() - 1) > _TOLERANCE:
        problem = f"writes probabilities that add up to {weights.sum():.6g}, not 1"
    if problem:
        place = rule_place(game, "chance_outcomes")
        problems.add("chance", f"chance_outcomes {problem} (at turn {state.turn}; {place})")
        raise Stop
    return listed, weights / weights.sum()


def step(problems: Problems, state: Any, action: int) -> None:
    """Plays one action in place, as the framework would."""
    turn = int(state.turn)
    with problems.running("play", f" at turn {turn}, action {action}"):
        problems.game.play(state, action)
    if state.turn != turn:
        problems.add(
            "turn",
            f"play changes state.turn from {turn} to {state.turn}; the framework counts the plays, "
            f"so leave it alone ({rule_place(problems.game, 'play')})",
        )
        raise Stop
    state.turn += 1


def rule_place(game: Game, rule: str) -> str:
    """File and line where a rule begins."""
    function = inspect.unwrap(getattr(type(game), rule))
    code = function.__code__
    return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
