"""After the search: the move to play, and the policy to learn."""

import math
from typing import NamedTuple

import numpy as np

from plainzero import Game, SearchConfig

from . import gumbel
from .evaluation import split
from .selection import explore_puct
from .tree import Edge, Node


class ReferenceResult(NamedTuple):
    """The result of a search; arrays have one entry per action of the game."""

    visits: np.ndarray
    q: np.ndarray  # for the root's mover: exact if proven, else W / n, 0 if n is 0
    prior: np.ndarray  # without noise
    values: list[float]  # of the root, per player: exact if proven, else V
    proven: bool
    best_action: int
    policy_target: np.ndarray
    proof_length: np.ndarray


def read_result(game: Game, root: Node, config: SearchConfig) -> ReferenceResult:
    """The result at the root."""
    visits, q, prior, target, length = (np.zeros(game.num_actions) for _ in range(5))
    shares = only_worth_playing(root, policy_target(root, config))
    for edge, share in zip(root.edges, shares, strict=True):
        visits[edge.action], prior[edge.action] = edge.visits, edge.own_prior
        q[edge.action] = edge.exact_q if edge.visits else 0.0
        target[edge.action], length[edge.action] = share, edge.proof_length
    values = [total / (1 + root.visits) for total in root.totals]
    if root.proven is not None:
        values = split(game, root.mover, root.proven)
    best = best_edge(root, config)
    is_proven = root.proven is not None
    return ReferenceResult(visits, q, prior, values, is_proven, best.action, target, length)


def best_edge(root: Node, config: SearchConfig) -> Edge:
    """The move to play: the best proven one, if no other one promises more."""
    proven = [edge for edge in root.edges if edge.proven is not None]
    if root.proven is not None:
        return best_proven(proven)
    proven = [edge for edge in proven if edge.proven != -1.0]
    if config.selection == "gumbel":
        most = max(edge.visits - edge.visits_before for edge in root.unproven)
        often = [edge for edge in root.unproven if edge.visits - edge.visits_before == most]
        both = [edge for edge in root.edges if edge in often or edge in proven]
        return gumbel.best_of(root, both, config)
    best = most_visited(root.unproven)
    if config.choice == "lcb" and best.visits and lower_bound(best, config) >= -1:
        often = [e for e in root.unproven if e.visits >= max(1, config.lcb_visits * best.visits)]
        best = max(often, key=lambda edge: (lower_bound(edge, config), -edge.action))
    if proven and (best.visits == 0 or best_proven(proven).proven >= best.q):
        return best_proven(proven)
    return best


def best_proven(edges: list[Edge]) -> Edge:
    """The largest value; of equals the shortest win, or the longest draw or loss."""
    value = max(edge.proven for edge in edges)
    edges = [edge for edge in edges if edge.proven == value]
    lengths = [edge.proof_length for edge in edges]
    length = min(lengths) if value > 0 else max(lengths)
    return most_visited([edge for edge in edges if edge.proof_length == length])


def most_visited(edges: list[Edge]) -> Edge:
    """The edge with the most visits; ties go to the largest Q, then to the lowest action."""
    return max(edges, key=lambda edge: (edge.visits, edge.visits and edge.exact_q, -edge.action))


def lower_bound(edge: Edge, config: SearchConfig) -> float:
    """Q − deviations · √(variance / e).

    Beside the n results, one of weight w = 1 / n² and squared deviation 1.
    """
    n = edge.visits
    w = 1 / n**2
    variance = max(0.0, edge.square_sum / n - edge.q * edge.q) + w / (n + w)
    effective = (n + w) ** 2 / (n + w * w)
    return edge.q - config.lcb_deviations * math.sqrt(variance / effective)


def policy_target(root: Node, config: SearchConfig) -> list[float]:
    """Weights of the distribution to learn, one number per edge."""
    if config.selection == "gumbel":
        return gumbel.improved_policy(root, root.edges, config)
    visits = [edge.visits for edge in root.edges]
    if config.forced_playouts and root.proven is None:
        visits = [unforced_visits(root, edge, config) for edge in root.edges]
    return credit_proven(root, visits)


def credit_proven(root: Node, visits: list[float]) -> list[float]:
    """Visits of proven moves, and of those worth less, go to the best proven ones by prior."""
    best = [edge for edge in root.edges if edge.proven == root.floor]
    if root.proven is None and root.floor == -1.0:
        return visits
    kept = [
        n if edge.proven is None and n and edge.q >= root.floor else 0.0
        for n, edge in zip(visits, root.edges, strict=True)
    ]
    moved = sum(visits) - sum(kept)
    priors = [edge.own_prior + 1e-30 if edge in best else 0.0 for edge in root.edges]
    return [n + moved * prior / sum(priors) for n, prior in zip(kept, priors, strict=True)]


def worth_playing(root: Node) -> list[Edge]:
    """The moves with a proven root's value, else those that are not proven lost."""
    if root.proven is not None:
        return [edge for edge in root.edges if edge.proven == root.proven]
    return [edge for edge in root.edges if edge.proven != -1.0] or root.edges


def only_worth_playing(root: Node, shares: list[float]) -> list[float]:
    """The shares of moves worth playing, normalised; unchanged if all of those are 0."""
    worth = worth_playing(root)
    kept = [s if edge in worth else 0.0 for edge, s in zip(root.edges, shares, strict=True)]
    if not any(kept):
        kept = shares if root.proven is None else [float(edge in worth) for edge in root.edges]
    return [share / sum(kept) for share in kept]


def unforced_visits(root: Node, edge: Edge, config: SearchConfig) -> int:
    """The edge's visits without those due to forced playouts alone."""
    best = max(root.edges, key=lambda edge: edge.visits)
    if edge is best or edge.visits == 0:
        return edge.visits
    bar = best.q + explore_puct(root, best, best.visits, config)
    most = math.sqrt(config.forced_playouts * edge.prior * root.visits)
    visits = edge.visits
    while visits > 0 and edge.visits - (visits - 1) <= most:
        if edge.q + explore_puct(root, edge, visits - 1, config) >= bar:
            break
        visits -= 1
    return 0 if visits == 1 else visits
