"""The updates of a simulation from its leaf back to the root."""

from plainzero import CHANCE, Game

from .evaluation import split
from .tree import Leaf


def back_up(game: Game, leaf: Leaf, result: list[float]) -> None:
    """Adds the result to every edge and node on the path.

    A move worse than a proven one was tried to learn about it: its node passes on the proven value.
    A result changes once at most.
    """
    is_raised = False
    for node, edge in reversed(leaf.path):
        edge.pending -= 1
        edge.visits += 1
        node.visits += 1
        if node.mover != CHANCE:
            edge.value_sum += result[node.mover]
            edge.square_sum += result[node.mover] ** 2
            raised = split(game, node.mover, node.floor)
            if not is_raised and edge.q < node.floor and raised != result:
                result, is_raised = raised, True
        node.totals = [total + x for total, x in zip(node.totals, result, strict=True)]
        node.squares = [total + x * x for total, x in zip(node.squares, result, strict=True)]


def prove(game: Game, leaf: Leaf, result: list[float]) -> None:
    """Propagates the exact result of a finished game upward, as far as it proves anything."""
    length = 1
    for node, edge in reversed(leaf.path):
        edge.proven, edge.proof_length = result[node.mover], length
        proofs = [edge.proven for edge in node.edges]
        if 1.0 not in proofs and None in proofs:
            return
        node.proven = max(proof for proof in proofs if proof is not None)
        lengths = [edge.proof_length for edge in node.edges if edge.proven == node.proven]
        length = 1 + (min(lengths) if node.proven > 0 else max(lengths))
        result = split(game, node.mover, node.proven)


def learn_amaf(leaf: Leaf, rollout: list[tuple[int, int]], result: list[float]) -> None:
    """Updates the AMAF statistics of every node with the moves from it on, each counted once."""
    tree_moves = [(node.mover, edge.action) for node, edge in leaf.path]
    for i, node in enumerate([*(node for node, _ in leaf.path), leaf.node]):
        for player, action in {*tree_moves[i:], *rollout}:
            if player != CHANCE:
                visits, value_sum = node.amaf.get((player, action), (0, 0.0))
                node.amaf[player, action] = visits + 1, value_sum + result[player]
