"""Which two agents of a ladder play next: those whose games tell most for their cost.

A new agent first plays the one whose expected rating is nearest. After that, every batch of games
goes to the pair that most reduces the summed variance of the ratings for the work it takes: near
neighbours, more often the cheap ones, and never two of which one surely wins. The choice depends on
the results alone, not on the clock, so the same seed gives the same games on any machine.
"""

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from plainzero.arena.ladder import Ladder
from plainzero.arena.ladder_agents import expected_elo
from plainzero.arena.ratings import ELO

_BATCH_COST = 1_200_000.0  # microseconds for a move of both agents in all rounds of a batch
_SURE = 0.03  # variance of a score; a game that is won in 97 of 100 cases has less
_FEWEST_ROUNDS, _MOST_ROUNDS = 2, 12


def choose_pair(
    ladder: Ladder,
    costs: Mapping[str, float],
    focus: Sequence[str],
    allows: Callable[[tuple[str, str]], bool] = lambda _: True,
) -> tuple[str, str] | None:
    """The two agents that play next, in the order of the ladder's agents; None if none may.

    Args:
        ladder: the games so far.
        costs: of a move, by the agents that can play; the anchor need not be among them.
        focus: the agents whose ratings are wanted; one of them plays.
        allows: whether a pair may play now.
    """
    order = list(ladder.agents)
    pairs = [
        pair
        for pair in itertools.combinations(sorted(costs, key=order.index), 2)
        if set(pair) & set(focus) and allows(pair)
    ]
    first_pairs = [pair for pair in pairs if _newcomer(ladder, pair)]
    if first_pairs:
        return min(first_pairs, key=functools.partial(_first_order, ladder, costs))
    known = [pair for pair in pairs if set(pair) <= set(ladder.rated) and _is_open(ladder, pair)]
    return max(known, key=functools.partial(_gain, ladder, costs, focus), default=None)


def count_rounds(cost: float) -> int:
    """The openings of a batch, by the cost of a move of both agents: costly batches are short."""
    return int(min(_MOST_ROUNDS, max(_FEWEST_ROUNDS, _BATCH_COST / cost)))


def _is_open(ladder: Ladder, pair: tuple[str, str]) -> bool:
    """Whether either may win, or at least nobody stands between them."""
    places = [rung.agent for rung in ladder.rungs]
    is_next = abs(places.index(pair[0]) - places.index(pair[1])) == 1
    return is_next or ladder.predict(*pair)[1] >= _SURE


def _newcomer(ladder: Ladder, pair: tuple[str, str]) -> str | None:
    """The one agent of the pair that is not rated yet, if the other one is."""
    new = [agent for agent in pair if agent not in ladder.rated]
    return new[0] if len(new) == 1 else None


def _first_order(
    ladder: Ladder, costs: Mapping[str, float], pair: tuple[str, str]
) -> tuple[float, float, float]:
    """Newcomers of little cost first, since time may be short; among them, those near the anchor.

    So each finds rated neighbours, of which it meets the one that is expected to be nearest. Up to
    twice the cost of the anchor is little.
    """
    newcomer, first, second = _newcomer(ladder, pair) or "", *map(expected_elo, pair)
    extra = max(0.0, costs[newcomer] - 2 * costs.get(ladder.anchor, 0.0))
    distance = abs(expected_elo(newcomer) - expected_elo(ladder.anchor))
    return extra, distance, abs(first - second)


def _gain(
    ladder: Ladder, costs: Mapping[str, float], focus: Sequence[str], pair: tuple[str, str]
) -> float:
    """How much a batch reduces the summed variance of the ratings in `focus`, per unit of work."""
    index = {name: number for number, name in enumerate(ladder.rated)}
    covariance = ladder.ratings.covariance / ELO**2
    first, second = (index[agent] for agent in pair)
    spread = covariance[:, first] - covariance[:, second]
    cost = costs[pair[0]] + costs[pair[1]]
    information = 2 * count_rounds(cost) * ladder.predict(*pair)[1]
    wanted = [index[agent] for agent in focus if agent in index]
    reduction = float(np.sum(spread[wanted] ** 2)) * information
    reduction /= 1 + information * float(spread[first] - spread[second])
    return reduction / (count_rounds(cost) * cost)
