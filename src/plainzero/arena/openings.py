"""Balanced random openings: positions to start matches from, no two of them alike.

Without them, agents that leave nothing to chance play one game over and over. An opening is a few
random plies. Positions that are equal, or equal after a symmetry of the board, count once. Of twice
as many as needed, those stay that a short search finds the most even; since every opening is played
from all seats, what is left of an advantage cancels out.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plainzero.games.contract import CHANCE, Game, State, has_chance
from plainzero.search.api import search
from plainzero.search.config import SearchConfig

_PATIENCE = 3  # tries without a new opening, for each one found, before plies are added
_SURPLUS = 2  # candidates for each opening that is wanted
_BALANCE = SearchConfig(simulations=200)
_LEAST_PLIES = 2
_LONGEST_SHARE = 2 / 3  # of max_turns: what is left must still be a game


@dataclass(frozen=True)
class Opening:
    """The moves from the beginning, chance's included, and the position they lead to."""

    actions: tuple[int, ...]
    state: State


def draw_openings(game: Game, count: int, seed: int, plies: int | None = None) -> list[Opening]:
    """Openings that all differ: `count` of them, or as many as the game has.

    Args:
        game: the game.
        count: how many.
        seed: the same seed gives the same openings.
        plies: decisions of the players in each; by default the fewest that give enough.
    """
    if plies is not None and plies < 0:
        raise ValueError(f"the openings have {plies} plies; it must be 0 or more")
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
    """Up to `wanted` different openings of that length, in the order in which they were drawn."""
    found: dict[bytes, Opening] = {}
    in_vain = 0
    while len(found) < wanted and in_vain < 20 + _PATIENCE * len(found):
        opening = _play_randomly(game, plies, generator)
        key = None if opening is None else position_key(game, opening.state)
        if opening is None or key is None or key in found:
            in_vain += 1
        else:
            found[key], in_vain = opening, 0
    return list(found.values())


def _play_randomly(game: Game, plies: int, generator: np.random.Generator) -> Opening | None:
    """A random opening, ending at a player's turn; None where the game ended before."""
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
    """One of chance's outcomes, drawn by its probabilities."""
    outcomes, probabilities = zip(*game.chances(state), strict=True)
    cumulative = np.cumsum(probabilities)
    place = int(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right"))
    return int(outcomes[min(place, len(outcomes) - 1)])


def position_key(game: Game, state: State) -> bytes:
    """What is equal for positions that are equal, or equal after a symmetry of the board."""
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
        config = dataclasses.replace(config, proven_values=True)  # finds what is lost already
    results = search(game, [opening.state for opening in candidates], "rollout", config, seed)
    advantages = [float(result.values.max() - result.values.min()) for result in results]
    even = sorted(np.argsort(advantages, kind="stable")[:count].tolist())
    return [candidates[i] for i in even]
