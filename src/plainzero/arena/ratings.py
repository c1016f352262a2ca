"""Ratings of many agents from their games: Bradley and Terry's model with Davidson's draws.

With strengths e^θ, i wins, draws and loses against j in the proportions

    e^θᵢ  :  ν √(e^θᵢ e^θⱼ)  :  e^θⱼ

and θ is given in Elo, 400 / ln 10 per unit. The likelihood is concave in θ and ln ν, so Newton's
method finds its only maximum. Every pairing with games gets one virtual game (by default), a third
of it won, drawn and lost, which keeps ratings finite if one side won everything and matters little
otherwise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.arena.elo import NORMAL_95

ELO = 400.0 / math.log(10.0)  # per unit of θ
_STEPS = 100
_CLOSE = 1e-10


@dataclass(frozen=True)
class Pairing:
    """The results of two agents, given by index; wins are the first one's."""

    first: int
    second: int
    wins: int
    draws: int
    losses: int
    virtual: float = 1.0  # games added to these, a third of them won, drawn and lost


@dataclass(frozen=True, eq=False)
class Ratings:
    """A ladder in Elo; the first agent is at 0."""

    names: tuple[str, ...]
    elo: NDArray[np.float64]  # [n]
    covariance: NDArray[np.float64]  # [n, n], of the Elo numbers; 0 for the first agent
    draw: float  # ν: equals draw with probability ν / (2 + ν)

    @property
    def errors(self) -> NDArray[np.float64]:
        """[n] half the width of each 95 % interval, of the difference to the first agent."""
        return NORMAL_95 * np.sqrt(np.diag(self.covariance))

    @property
    def draw_rate(self) -> float:
        """How often two equal agents draw."""
        return self.draw / (2.0 + self.draw)

    def predict(self, first: int, second: int) -> tuple[float, float]:
        """The expected score of a game between two agents, and its variance."""
        difference = (self.elo[first] - self.elo[second]) / ELO
        weights = np.exp(np.array([difference, difference / 2.0, 0.0]) - max(difference, 0.0))
        weights[1] *= self.draw
        win, draw, _ = weights / weights.sum()
        score = float(win + draw / 2.0)
        return score, float(win + draw / 4.0) - score**2

    def as_dict(self) -> dict[str, Any]:
        """As JSON-compatible values, strongest first."""
        order = np.argsort(-self.elo, kind="stable")
        return {
            "ratings": [
                {"agent": self.names[i], "elo": float(self.elo[i]), "error": float(self.errors[i])}
                for i in order
            ],
            "draw_rate_of_equals": self.draw_rate,
        }


def fit_ratings(names: Sequence[str], pairings: Sequence[Pairing]) -> Ratings:
    """The maximum-likelihood ratings.

    Raises:
        ValueError: if no chain of games connects an agent with the first one.
    """
    _check_connected(names, pairings)
    count = len(names)
    features = np.array([_features(pairing, count) for pairing in pairings])  # [p, 3, n]
    results, offsets = _results(pairings), np.zeros((len(pairings), 3))
    parameters, hessian = _maximise(features, results, offsets)
    covariance = np.zeros((count, count))
    covariance[1:, 1:] = np.linalg.inv(-hessian)[:-1, :-1]
    theta = np.concatenate([[0.0], parameters[:-1]])
    return Ratings(tuple(names), theta * ELO, covariance * ELO**2, math.exp(parameters[-1]))


def rate_against(anchors: Sequence[float], pairings: Sequence[Pairing]) -> tuple[float, float]:
    """The Elo of one agent against others with fixed ratings, and its 95 % error.

    Args:
        anchors: the fixed ratings.
        pairings: the agent is `first` in each, whatever its index; `second` is an anchor's.
    """
    features = np.tile([[1.0, 0.0], [0.5, 1.0], [0.0, 0.0]], (len(pairings), 1, 1))
    theta = np.array([anchors[pairing.second] for pairing in pairings]) / ELO
    centre = float(
        theta.mean()
    )  # Newton's method starts here, because the likelihood is flat far away
    offsets = (theta - centre)[:, None] * [0.0, 0.5, 1.0]
    parameters, hessian = _maximise(features, _results(pairings), offsets)
    variance = float(np.linalg.inv(-hessian)[0, 0])
    return (centre + float(parameters[0])) * ELO, NORMAL_95 * math.sqrt(variance) * ELO


def _results(pairings: Sequence[Pairing]) -> NDArray[np.float64]:
    """[p, 3] wins, draws and losses, including the virtual games."""
    rows = [[count + p.virtual / 3.0 for count in (p.wins, p.draws, p.losses)] for p in pairings]
    return np.array(rows, float)


def _check_connected(names: Sequence[str], pairings: Sequence[Pairing]) -> None:
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        for pairing in pairings:
            if {pairing.first, pairing.second} & reached:
                reached |= {pairing.first, pairing.second}
    for number, name in enumerate(names):
        if number not in reached:
            raise ValueError(f"{name} has no games that connect it with {names[0]}")


def _features(pairing: Pairing, count: int) -> NDArray[np.float64]:
    """[3, n]: how win, draw and loss depend on θ of all agents but the first, and on ln ν."""
    rows = np.zeros((3, count + 1))
    rows[0, pairing.first] = 1.0
    rows[1, [pairing.first, pairing.second]] = 0.5
    rows[1, count] = 1.0
    rows[2, pairing.second] = 1.0
    return rows[:, 1:]


def _maximise(
    features: NDArray[np.float64], results: NDArray[np.float64], offsets: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The likeliest parameters and the Hessian there, by Newton's method.

    A step that would lower the likelihood is halved.
    """
    parameters = np.zeros(features.shape[2])
    value, gradient, hessian = _likelihood(features, results, offsets, parameters)
    for _ in range(_STEPS):
        step = np.linalg.solve(-hessian, gradient)
        while True:
            tried = _likelihood(features, results, offsets, parameters + step)
            if tried[0] >= value or np.abs(step).max() < _CLOSE:
                break
            step /= 2.0
        parameters = parameters + step
        value, gradient, hessian = tried
        if np.abs(step).max() < _CLOSE:
            break
    return parameters, hessian


def _likelihood(
    features: NDArray[np.float64],
    results: NDArray[np.float64],
    offsets: NDArray[np.float64],
    parameters: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """The log-likelihood, its gradient and its Hessian."""
    logits = features @ parameters + offsets  # [p, 3]
    logits -= logits.max(axis=1, keepdims=True)
    shares = np.exp(logits)
    shares /= shares.sum(axis=1, keepdims=True)
    games = results.sum(axis=1)
    means = np.einsum("pk,pkn->pn", shares, features)
    value = float((results * np.log(np.maximum(shares, 1e-300))).sum())
    gradient = np.einsum("pk,pkn->n", results, features) - games @ means
    spread = features - means[:, None, :]  # as a sum of squares, the Hessian keeps its sign
    return value, gradient, -np.einsum("p,pk,pkn,pkm->nm", games, shares, spread, spread)
