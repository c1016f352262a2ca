"""OpenSpiel's side of the adapter: its states, looked up by the moves that led to them.

A position of ours is the list of moves so far; OpenSpiel's state is looked up here, or made from
the longest known prefix of the list. Everything here works on bytes and addresses, because compiled
rules call it (see `python_callbacks.py`).
"""

import ctypes
import threading
from array import array
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.open_spiel.python_callbacks import PythonFunction

OVER = -2
"""What `STEP` returns when the game is over."""

_MOST_STATES = 8192  # per game; the least recently used are dropped
_DRIVERS: dict[int, "Driver"] = {}  # by the number in the compiled code


class Known:
    """An OpenSpiel state, which never changes, and its legal actions, computed on demand."""

    __slots__ = ("_legal", "state")

    def __init__(self, state: Any) -> None:
        """Wraps a state."""
        self.state = state
        self._legal: bytes | None = None

    def legal(self) -> bytes:
        """The legal actions as 32-bit numbers, in OpenSpiel's ascending order."""
        if self._legal is None:
            self._legal = array("i", self.state.legal_actions()).tobytes()
        return self._legal


class Driver:
    """Plays one OpenSpiel game; thread-safe.

    Args:
        spiel: the game from `pyspiel.load_game`.
        width: bytes per move in a history.
        max_turns: moves after which a game is broken off.
        observation_shape: the shape of observations, with the planes of the mover; or None.
    """

    def __init__(  # noqa: D107
        self, spiel: Any, width: int, max_turns: int, observation_shape: tuple[int, ...] | None
    ) -> None:
        self.spiel, self.width, self.max_turns = spiel, width, max_turns
        self.observation_shape = observation_shape
        self._move_type = np.dtype(f"i{width}")
        self._shift, self._scale = _scaling(spiel)
        kind = spiel.get_type()
        self._sums_rewards = kind.reward_model == kind.reward_model.REWARDS
        self._sees_state = kind.provides_observation_tensor
        self._known: OrderedDict[bytes, Known] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, history: bytes) -> Known:
        """The state after these moves."""
        with self._lock:
            known = self._known.get(history)
            if known is not None:
                self._known.move_to_end(history)
                return known
            known, length = self._longest_beginning(history)
        if length == len(history) - self.width:  # one more move, which the search knows to be legal
            state = known.state.clone()
            state.apply_action(int.from_bytes(history[length:], "little"))
        else:
            state = self._replay(known.state, history[length:])
        known = Known(state)
        with self._lock:
            self._known[history] = known
            while len(self._known) > _MOST_STATES:
                self._known.popitem(last=False)
        return known

    def _longest_beginning(self, history: bytes) -> tuple[Known, int]:
        """The state of the longest known prefix, and its length in bytes."""
        for length in range(len(history) - self.width, 0, -self.width):
            known = self._known.get(history[:length])
            if known is not None:
                self._known.move_to_end(history[:length])
                return known, length
        return Known(self.spiel.new_initial_state()), 0

    def _replay(self, state: Any, moves: bytes) -> Any:
        state = state.clone()
        for move in np.frombuffer(moves, self._move_type).tolist():
            if move not in state.legal_actions():  # OpenSpiel itself may not notice
                raise ValueError(f"{self.spiel} cannot continue with action {move} here:\n{state}")
            state.apply_action(move)
        return state

    def player(self, history: bytes) -> int:
        """The player to move, chance as in our contract; OVER at the end and at the limit."""
        state = self.at(history).state
        if state.is_terminal() or len(history) == self.max_turns * self.width:
            return OVER
        player = int(state.current_player())
        if player < -1:
            raise ValueError(f"{self.spiel} has player {player} to move, whom PlainZero cannot be")
        return player

    def returns(self, history: bytes) -> NDArray[np.float32]:
        """The returns, in [−1, 1]; a game that was broken off is a draw.

        If rewards are collected during the game, it ends with what was collected.
        """
        state = self.at(history).state
        if not (state.is_terminal() or self._sums_rewards):
            return np.zeros(self.spiel.num_players(), np.float32)
        scaled = (np.array(state.returns()) - self._shift) / self._scale
        return np.clip(scaled, -1.0, 1.0).astype(np.float32)

    def outcomes(self, history: bytes) -> list[tuple[int, float]]:
        """The outcomes of chance with their probabilities."""
        outcomes: list[tuple[int, float]] = self.at(history).state.chance_outcomes()
        return outcomes

    def observation(self, history: bytes, player: int) -> NDArray[np.float32]:
        """OpenSpiel's tensor for the player, then one plane per player, with ones for this one.

        The planes are needed because many tensors do not depend on the player to move.
        """
        if self.observation_shape is None:
            raise ValueError(
                f"OpenSpiel has no observation of {self.spiel} for a network; play it with "
                "uct, puct or alphabeta"
            )
        state = self.at(history).state
        tensor = (
            state.observation_tensor(player)
            if self._sees_state
            else state.information_state_tensor(player)
        )
        seen = np.zeros(self.observation_shape, np.float32)
        planes = self.observation_shape[0] - _mover_planes(self.spiel)
        seen[:planes] = np.array(tensor, np.float32).reshape(planes, *self.observation_shape[1:])
        if planes < self.observation_shape[0]:
            seen[planes + player] = 1.0
        return seen


def observation_shape(spiel: Any) -> tuple[int, ...] | None:
    """Planes, rows and columns if OpenSpiel's tensor has them, else one row; None without it."""
    kind = spiel.get_type()
    if kind.provides_observation_tensor:
        shape = list(spiel.observation_tensor_shape())
        has_planes = str(spiel.observation_tensor_layout()).endswith("CHW")
    elif kind.provides_information_state_tensor:
        shape, has_planes = list(spiel.information_state_tensor_shape()), True
    else:
        return None
    if len(shape) != 3 or not has_planes:
        shape = [int(np.prod(shape))]
    return (shape[0] + _mover_planes(spiel), *shape[1:])


def _mover_planes(spiel: Any) -> int:
    players = int(spiel.num_players())
    return players if players > 1 else 0


def _scaling(spiel: Any) -> tuple[float, float]:
    """The shift and the scale that map OpenSpiel's returns to [−1, 1]."""
    least, most = float(spiel.min_utility()), float(spiel.max_utility())
    if spiel.num_players() == 1:
        shift = (least + most) / 2
    else:
        shift = float(spiel.utility_sum() or 0.0) / spiel.num_players()
    return shift, max(abs(least - shift), abs(most - shift)) or 1.0


def add_driver(number: int, driver: Driver) -> None:
    """Registers a game for the functions below, which are called with its number."""
    _DRIVERS.setdefault(number, driver)


def _step(number: int, history: int, length: int, returns: int) -> int:
    """The player to move after `length` moves; OVER at the end, with results in `returns`."""
    driver = _DRIVERS[number]
    moves = ctypes.string_at(history, length * driver.width)
    player = driver.player(moves)
    if player == OVER:
        results = driver.returns(moves)
        ctypes.memmove(returns, results.tobytes(), results.nbytes)
    return player


def _legal(number: int, history: int, length: int, actions: int) -> int:
    """Writes the legal actions; returns their number."""
    driver = _DRIVERS[number]
    legal = driver.at(ctypes.string_at(history, length * driver.width)).legal()
    ctypes.memmove(actions, legal, len(legal))
    return len(legal) // 4


def _chance(number: int, history: int, length: int, outcomes: int, probabilities: int) -> int:
    """Writes chance's outcomes and their probabilities; returns their number."""
    driver = _DRIVERS[number]
    pairs = driver.outcomes(ctypes.string_at(history, length * driver.width))
    ctypes.memmove(
        outcomes, array("i", [outcome for outcome, _ in pairs]).tobytes(), 4 * len(pairs)
    )
    weights = array("d", [probability for _, probability in pairs])
    ctypes.memmove(probabilities, weights.tobytes(), 8 * len(pairs))
    return len(pairs)


def _observe(number: int, history: int, length: int, player: int, planes: int) -> int:
    """Writes the observation for that player."""
    driver = _DRIVERS[number]
    seen = driver.observation(ctypes.string_at(history, length * driver.width), player)
    ctypes.memmove(planes, seen.tobytes(), seen.nbytes)
    return 0


STEP = PythonFunction("plainzero_open_spiel_step", _step, 4)
LEGAL = PythonFunction("plainzero_open_spiel_legal", _legal, 4)
CHANCES = PythonFunction("plainzero_open_spiel_chances", _chance, 5)
OBSERVE = PythonFunction("plainzero_open_spiel_observe", _observe, 5)
