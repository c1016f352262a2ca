"""Balanced random openings: distinct positions from which matches start.

Without them, deterministic agents would play the same game over and over. An opening is a few
random plies. Positions that are equal, or equal under a symmetry of the board, count once. Twice as
many as needed are drawn, and those that a short search finds most even are used; since every
opening is played from all seats, a remaining advantage cancels out.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plainzero.games.contract import CHANCE, Game, State, has_chance
from plainzero.search.api import search
from plainzero.search.config import SearchConfig

_PATIENCE = 3  # failed tries per opening found before plies are added
_SURPLUS = 2  # candidates per opening
_BALANCE = SearchConfig(simulations=200)
_LEAST_PLIES = 2
_LONGEST_SHARE = 2 / 3  # of max_turns, so that a game remains


@dataclass(frozen=True)
class Opening:
    """The moves from the start, including chance's, and the position they lead to."""

    actions: tuple[int, ...]
    state: State


def draw_openings(game: Game, count: int, seed: int, plies: int | None = None) -> list[Opening]:
    """Up to `count` distinct openings, fewer if the game does not have that many.

    Args:
        game: the game.
        count: the number of openings.
        seed: the same seed gives the same openings.
        plies: players' moves in each; by default the fewest that give enough openings.
    """
    if plies is not None and plies < 0:
        raise ValueError(f"plies is {plies}; it must be 0 or more")
    generator = np.random.default_rng(seed)
    wanted = count * _SURPLUS if game.num_players > 1 else count
    if plies is not None:
        return _most_even(game, _draw(game, wanted, plies, generator), count, seed)
    found: list[Opening] = []
    for length in range(_LEAST_PLIES, max(3, int(game.max_turns * _LONGEST_SHARE))):
        drawn = _draw(game, wanted, length, generator)
        found = max(found, drawn, key=len)
        if len(found) >= wanted or (drawn and len(drawn) < len(found) / 2):
            break
    found = found or _draw(game, wanted, 0, generator)
    return _most_even(game, found, count, seed)


def _draw(game: Game, wanted: int, plies: int, generator: np.random.Generator) -> list[Opening]:
    """Up to `wanted` distinct openings of that length, in the order drawn."""
    found: dict[bytes, Opening] = {}
    failures = 0
    while len(found) < wanted and failures < 20 + _PATIENCE * len(found):
        opening = _play_randomly(game, plies, generator)
        key = None if opening is None else position_key(game, opening.state)
        if opening is None or key is None or key in found:
            failures += 1
        else:
            found[key], failures = opening, 0
    return list(found.values())


def _play_randomly(game: Game, plies: int, generator: np.random.Generator) -> Opening | None:
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


def _most_even(game: Game, candidates: Sequence[Opening], count: int, seed: int) -> list[Opening]:
    """The `count` openings in which a short search sees the least advantage, in their order."""
    if len(candidates) <= count or game.num_players < 2:
        return list(candidates[:count])
    config = _BALANCE
    if game.num_players == 2 and not has_chance(game):
        config = dataclasses.replace(config, proven_values=True)  # recognises lost positions
    results = search(game, [opening.state for opening in candidates], "rollout", config, seed)
    advantages = [float(result.values.max() - result.values.min()) for result in results]
    even = sorted(np.argsort(advantages, kind="stable")[:count].tolist())
    return [candidates[i] for i in even]
