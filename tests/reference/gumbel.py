"""Gumbel AlphaZero: sequential halving at the root, the improved policy below it."""

import math

from plainzero import SearchConfig

from .tree import Edge, Node

SMALLEST_PRIOR = 1e-30


def choose_at_root(root: Node, config: SearchConfig) -> Edge:
    """Sequential halving: the best of the edges that have the required number of visits."""
    done = sum(edge.tried - edge.visits_before for edge in root.edges)
    required = required_visits(len(root.edges), config)[done]
    edges = [edge for edge in root.unproven if edge.tried - edge.visits_before == required]
    return best_of(root, edges or root.unproven, config)


def best_of(root: Node, edges: list[Edge], config: SearchConfig) -> Edge:
    """The edge with the largest g + ℓ + σ(Q); the first of equals."""
    return max(edges, key=lambda edge: edge.gumbel + improved_logit(root, edge, config))


def choose_below_root(node: Node, config: SearchConfig) -> Edge:
    """The edge whose share of the visits is furthest below the improved policy."""
    edges = node.unproven
    policy = dict(zip(edges, improved_policy(node, edges, config), strict=True))
    return max(edges, key=lambda edge: policy[edge] - edge.tried / (1 + node.tried_sum))


def improved_policy(node: Node, edges: list[Edge], config: SearchConfig) -> list[float]:
    """π' = softmax(ℓ + σ(completed Q)) over these edges of the node."""
    logits = [improved_logit(node, edge, config) for edge in edges]
    powers = [math.exp(logit - max(logits)) for logit in logits]
    return [power / sum(powers) for power in powers]


def improved_logit(node: Node, edge: Edge, config: SearchConfig) -> float:
    """ℓ + σ(Q), with v_mix if Q is unknown."""
    q = edge.exact_q if edge.visits > 0 else mixed_value(node)
    most = max(other.visits for other in node.edges)
    sigma = (config.gumbel_c_visit + most) * config.gumbel_c_scale / span(node, config) * (q + 1)
    return math.log(max(edge.prior, SMALLEST_PRIOR)) + sigma


def span(node: Node, config: SearchConfig) -> float:
    """The width of the range of Q: of all that it can be, or of what it is at this node."""
    if not config.gumbel_rescale:
        return 2.0
    tried = [edge.exact_q for edge in node.edges if edge.visits > 0]
    completed = [*tried, *([mixed_value(node)] if len(tried) < len(node.edges) else [])]
    return max(max(completed) - min(completed), 1e-4)


def mixed_value(node: Node) -> float:
    """v_mix: the node's own evaluation mixed with the Q of visited edges, weighted by prior."""
    own = node.own_values[node.mover]
    tried = [edge for edge in node.edges if edge.visits > 0]
    mass = sum(edge.prior for edge in tried)
    if mass == 0.0:
        return own
    weighted = sum(edge.prior * edge.exact_q for edge in tried)
    return (own + node.visits * weighted / mass) / (1 + node.visits)


def required_visits(num_edges: int, config: SearchConfig) -> list[int]:
    """r(t) for every simulation t: the number of visits an edge must have to be selected."""
    m = min(config.gumbel_actions, num_edges)
    if m == 1:
        return list(range(config.simulations))
    required: list[int] = []
    edges_left, visits = m, 0
    while len(required) < config.simulations:
        more = max(1, config.simulations // (math.ceil(math.log2(m)) * edges_left))
        for _ in range(more):
            required += [visits] * edges_left
            visits += 1
        edges_left = max(2, edges_left // 2)
    return required[: config.simulations]
