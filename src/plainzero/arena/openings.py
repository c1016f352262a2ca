"""Balanced random openings: distinct positions from which matches start.

Without them, deterministic agents would play the same game over and over. An opening is a few
random plies. Positions that are equal, or equal under a symmetry of the board, count once. More
than needed are drawn, and the most even ones are used. Positions that are drawn with perfect play
are the most even, if that is known at once (Connect Four's opening book, games as small as
tic-tac-toe); for the others, the value of a search with random rollouts decides. Since every
opening is played from all seats, a remaining advantage cancels out.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE, Game, State, has_chance
from plainzero.opponents.perfect import quick_outcomes
from plainzero.search.api import search
from plainzero.search.config import SearchConfig

_PATIENCE = 3  # failed tries per opening found before plies are added
_LEAST_PLIES = 2
_LONGEST_SHARE = 2 / 3  # of max_turns, so that a game remains


@dataclass(frozen=True)
class Balance:
    """How much is done to find even openings."""

    candidates: int  # per opening
    simulations: int  # per candidate, if its outcome is not known
    solves: bool  # whether positions that are drawn with perfect play are preferred


CAREFUL = Balance(candidates=6, simulations=800, solves=True)
QUICK = Balance(candidates=2, simulations=200, solves=False)
"""For use during training. From drawn positions, agents that are nearly perfect draw all games."""


@dataclass(frozen=True)
class Opening:
    """The moves from the start, including chance's, and the position they lead to."""

    actions: tuple[int, ...]
    state: State


def draw_openings(
    game: Game, count: int, seed: int, plies: int | None = None, balance: Balance = CAREFUL
) -> list[Opening]:
    """Up to `count` distinct openings, fewer if the game does not have that many.

    Args:
        game: the game.
        count: the number of openings.
        seed: the same seed gives the same openings.
        plies: players' moves in each; by default the fewest that give enough openings, even ones
            if perfect play is known.
        balance: how much is done to find even ones.
    """
    if plies is not None and plies < 0:
        raise ValueError(f"plies is {plies}; it must be 0 or more")
    generator = np.random.default_rng(seed)
    wanted = count * balance.candidates if game.num_players > 1 else count
    if plies is not None:
        return _most_even(game, _draw(game, wanted, plies, generator), count, seed, balance)
    found: list[Opening] = []
    for length in range(_LEAST_PLIES, max(3, int(game.max_turns * _LONGEST_SHARE))):
        drawn = _draw(game, wanted, length, generator)
        if drawn and len(drawn) < len(found) / 2:
            break
        found = drawn if len(drawn) >= len(found) else found
        enough = min(wanted, QUICK.candidates * count)
        if len(found) >= enough and _has_enough_even(game, found, count, balance):
            break
    found = found or _draw(game, wanted, 0, generator)
    return _most_even(game, found, count, seed, balance)


def _draw(game: Game, wanted: int, plies: int, generator: np.random.Generator) -> list[Opening]:
    """Up to `wanted` distinct openings of that length, in the order drawn."""
    found: dict[bytes, Opening] = {}
    failures = 0
    while len(found) < wanted and failures < 20 + _PATIENCE * len(found):
        opening = play_randomly(game, plies, generator)
        key = None if opening is None else position_key(game, opening.state)
        if opening is None or key is None or key in found:
            failures += 1
        else:
            found[key], failures = opening, 0
    return list(found.values())


def play_randomly(game: Game, plies: int, generator: np.random.Generator) -> Opening | None:
    """A random opening that ends at a player's turn; None if the game ends before."""
    state, actions = game.new_state(), []
    while not state.is_over and (plies > 0 or state.to_play == CHANCE):
        if state.to_play == CHANCE:
            action = draw_chance(game, state, generator)
        else:
            action = int(generator.choice(game.legal(state)))
            plies -= 1
        actions.append(action)
        game.apply(state, action)
    return None if state.is_over else Opening(tuple(actions), state)


def draw_chance(game: Game, state: State, generator: np.random.Generator) -> int:
    """An outcome of chance, drawn by its probability."""
    outcomes, probabilities = zip(*game.chances(state), strict=True)
    cumulative = np.cumsum(probabilities)
    place = int(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right"))
    return int(outcomes[min(place, len(outcomes) - 1)])


def position_key(game: Game, state: State) -> bytes:
    """A key that equal positions share, also if equal only under a symmetry of the board."""
    mover = bytes([state.to_play])
    symmetries = game.symmetries()
    if not symmetries:
        return mover + b"".join(np.asarray(state[name]).tobytes() for name in game.fields())
    planes = game.observation(state)
    turned = [np.ascontiguousarray(symmetry.planes(planes)).tobytes() for symmetry in symmetries]
    return mover + min(planes.tobytes(), *turned)


def _has_enough_even(
    game: Game, candidates: Sequence[Opening], count: int, balance: Balance
) -> bool:
    """Whether `count` candidates are drawn with perfect play; true if that is not known.

    Also true if none is drawn: the game may have no draws.
    """
    outcomes = _outcomes(game, candidates, balance)
    return outcomes is None or bool(np.all(outcomes)) or int((outcomes == 0).sum()) >= count


def _outcomes(
    game: Game, candidates: Sequence[Opening], balance: Balance
) -> NDArray[np.int8] | None:
    """[n] with perfect play; None if they are not known at once, or not asked for."""
    if not balance.solves:
        return None
    return quick_outcomes(game, [opening.state for opening in candidates])


def _most_even(
    game: Game, candidates: Sequence[Opening], count: int, seed: int, balance: Balance
) -> list[Opening]:
    """The `count` openings with the least advantage for anybody, in their order."""
    if len(candidates) <= count or game.num_players < 2:
        return list(candidates[:count])
    outcomes = _outcomes(game, candidates, balance)
    if outcomes is not None and int((outcomes == 0).sum()) >= count:
        advantages = np.abs(outcomes)
    else:
        config = SearchConfig(simulations=balance.simulations)
        if game.num_players == 2 and not has_chance(game):
            config = dataclasses.replace(config, proven_values=True)  # recognises lost positions
        states = [opening.state for opening in candidates]
        results = search(game, states, "rollout", config, seed)
        advantages = np.array([np.ptp(result.values) for result in results])
        if outcomes is not None:
            advantages += 2 * np.abs(outcomes)  # every drawn one before all decided ones
    even = sorted(np.argsort(advantages, kind="stable")[:count].tolist())
    return [candidates[i] for i in even]
