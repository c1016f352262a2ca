"""The trees that a `Searcher` keeps from one search to the next.

`HostTrees` is here, `GpuTrees` in gpu/trees.py; both are `Trees`.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.config import SearchConfig
from plainzero.search.kernels.tree import Tree
from plainzero.search.tree_memory import TreeSize, enlarge_tree, make_tree


class Trees(Protocol):
    """What a searcher does with the trees of a batch, wherever they are."""

    def make(self, games: int, size: TreeSize) -> Tree:
        """Empty trees."""

    def roots(self, tree: Tree) -> Tree:
        """The roots with their edges, in host memory; perhaps copies."""

    def write_roots(self, tree: Tree, roots: NDArray[Any]) -> None:
        """Writes the records of `Tree.roots` back."""

    def enlarge(self, tree: Tree, size: TreeSize) -> Tree:
        """The same trees with more room."""

    def advance(self, tree: Tree, actions: NDArray[np.int32]) -> None:
        """Moves each root along its action."""


class HostTrees:
    """`Trees` in host memory."""

    def __init__(self, game: Game, config: SearchConfig) -> None:
        """For searches of that game with a resolved config."""
        self.game, self.config = game, config
        self._tag = register(game)

    def make(self, games: int, size: TreeSize) -> Tree:
        """Empty trees."""
        return make_tree(self.game, self.config, games, size)

    def roots(self, tree: Tree) -> Tree:
        """The trees themselves."""
        return tree

    def write_roots(self, tree: Tree, roots: NDArray[Any]) -> None:
        """Writes the records of `Tree.roots` back, unless they are the tree's own."""
        if roots is not tree.roots:
            tree.roots[:] = roots

    def enlarge(self, tree: Tree, size: TreeSize) -> Tree:
        """The same trees with more room."""
        return enlarge_tree(self.game, self.config, tree, size)

    def advance(self, tree: Tree, actions: NDArray[np.int32]) -> None:
        """Moves each root along its action."""
        cpu.advance_games(self._tag, tree, actions, 0, len(actions))
