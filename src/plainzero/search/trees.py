"""The trees of a searcher, kept from one search to the next. On a GPU: `DeviceTrees`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.rules import register
from plainzero.search import cpu
from plainzero.search.runner import Setup
from plainzero.search.tree_memory import Tree, TreeSize, enlarge_tree, make_tree


class HostTrees:
    """Trees in the memory that the processor works in."""

    def __init__(self, setup: Setup) -> None:
        """None yet."""
        self.game, self.config = setup.game, setup.config
        self._tag = register(self.game)

    def make(self, games: int, size: TreeSize) -> Tree:
        """Empty trees."""
        return make_tree(self.game, self.config, games, size)

    def roots(self, tree: Tree) -> Tree:
        """The roots, to look at."""
        return tree

    def write_roots(self, tree: Tree, roots: NDArray[Any]) -> None:
        """Puts the records of `Tree.roots` back, where `roots` gave copies."""

    def enlarge(self, tree: Tree, size: TreeSize) -> Tree:
        """The same trees with more room."""
        return enlarge_tree(self.game, self.config, tree, size)

    def advance(self, tree: Tree, actions: NDArray[np.int32]) -> None:
        """Moves each root along its action."""
        cpu.advance_games(self._tag, tree, actions, 0, len(actions))
