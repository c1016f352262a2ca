"""Trees in GPU memory, and what the host reads of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.gpu_memory import download, empty, put, upload
from plainzero.games.contract import Game
from plainzero.games.rules import register
from plainzero.search.config import SearchConfig
from plainzero.search.gpu import kernels
from plainzero.search.kernels.tree import Tree
from plainzero.search.tree_memory import Memory, TreeSize, make_tree


def _allocate(shape: tuple[int, ...], dtype: Any) -> Any:
    try:
        return empty(shape, dtype)
    except MemoryError:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        raise ValueError(
            f"the GPU cannot allocate {size:,} bytes for the tree; search fewer games side by "
            "side, or set a smaller max_bytes"
        ) from None


GPU_MEMORY = Memory(empty=_allocate, upload=upload)


class GpuTrees:
    """`Trees` in GPU memory."""

    def __init__(self, game: Game, config: SearchConfig) -> None:
        """For searches of that game with a resolved config."""
        self.game, self.config = game, config
        self._tag = register(game)

    def make(self, games: int, size: TreeSize) -> Tree:
        """Empty trees."""
        return make_tree(self.game, self.config, games, size, GPU_MEMORY)

    def roots(self, tree: Tree) -> Tree:
        """Copies of the roots with their edges: a tree of one node per game."""
        return fetch_roots(self.game, self.config, tree)

    def write_roots(self, tree: Tree, roots: NDArray[Any]) -> None:
        """Writes the records of `Tree.roots` back."""
        put(roots, tree.roots)

    def enlarge(self, tree: Tree, size: TreeSize) -> Tree:
        """The same trees with more room."""
        larger = self.make(tree.roots.shape[0], size)
        kernels.copy_trees(self._tag, tree, larger, 0, tree.roots.shape[0])
        return larger

    def advance(self, tree: Tree, actions: NDArray[np.int32]) -> None:
        """Moves each root along its action."""
        kernels.advance_games(self._tag, tree, upload(actions), 0, len(actions))


def fetch_roots(game: Game, config: SearchConfig, tree: Tree) -> Tree:
    """The roots with their edges, in host memory: a tree of one node per game."""
    games = tree.roots.shape[0]
    widest = min(tree.edges.shape[1], game.num_actions)
    small = make_tree(game, config, games, TreeSize(1, widest), GPU_MEMORY)
    small = small._replace(templates=tree.templates)
    kernels.copy_roots(register(game), tree, small, 0, games)
    return Tree(*map(download, small))


def fetch_tree(tree: Tree, row: int) -> Tree:
    """One game's tree, in host memory: a batch of one."""
    return Tree(*(_fetch_row(array, row) for array in tree))


def _fetch_row(array: Any, row: int) -> NDArray[Any]:
    """[1, …] one game's part of an array."""
    return download(array[row : row + 1]) if array.shape[0] else download(array)
