"""Monte Carlo tree search, from UCT with rollouts to PUCT and Gumbel with a network.

The package itself can be called: `plainzero.search(game, state)` is `api.search`.

Values are always from the point of view of the player to move at the node in question.

In reading order:

Data
    `config`: every option, with its paper's default.
    `kernels.tree`, `kernels.scratch`, `kernels.options`: the arrays that compiled code works on.

The algorithm, compiled once for CPU and GPU, in the papers' order
    `kernels.simulation`: one simulation: select, evaluate, expand, back up.
    `kernels.root`: what happens at the root before the first simulation.
    `kernels.selection`, `kernels.formulas`: UCT and PUCT. `kernels.gumbel`: Gumbel's selection.
    `kernels.expansion`: new nodes and edges. `kernels.rollout`: random playouts.
    `kernels.backup`: results on their way to the root.
    `kernels.decision`: the move to play, and the policy that a network learns.

Refinements
    `kernels.amaf`: RAVE and GRAVE.
    `kernels.proof`, `kernels.proof_zones`, `kernels.win_templates`: proven values.
    `kernels.reuse`, `kernels.copy_nodes`: keeping a part of the tree.
    `kernels.evaluation_table`, `kernels.cached_leaves`: cached evaluations.
    `kernels.random_streams`: random numbers that are the same on every device.
    `kernels.lanes`, `kernels.wide_copies`: several GPU threads per game.

What drives it
    `cpu`: entry points that loop over games. `gpu`: the same on a GPU.
    `resolve_options`, `tree_memory`, `scratch_memory`: sizes, allocation, seeds.
    `evaluators`: what evaluates leaves. `evaluate_leaves`: a round of leaves through an evaluator.
    `evaluation_cache`: keeps evaluations.
    `runner`, `thread_pool`: a search from its first round to its results. `trees`: kept trees.

What people see
    `api`: `search` and `Searcher`. `result`: the outcome. `view`: the tree, for drawing.
"""

import importlib
import inspect
import sys
import types
from typing import Any


class _CallablePackage(types.ModuleType):
    """This package, so that `plainzero.search` is both a folder and the function in it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from plainzero.search.api import search

        return search(*args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        from plainzero.search.api import search

        return inspect.signature(search)

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (__name__,)


sys.modules[__name__].__class__ = _CallablePackage
