"""The selection formulas applied to given numbers, for the page's formula view.

The children become the edges of a root, on which the search's own functions compute noise,
first-play urgency, scores, the selection and the policy. As in a search, priors are float32, N of
the root is ΣN, and ties go to the first child.
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.compiler.record_types import record_dtype
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.search.config import FirstPlayUrgency, SearchConfig
from plainzero.search.kernels.options import FPU_INFINITE, UCT
from plainzero.search.kernels.root import add_dirichlet_noise
from plainzero.search.kernels.selection import Terms, best_edge, edge_score, node_terms
from plainzero.search.kernels.tree import (
    ROOT,
    Tree,
    amaf_dtype,
    edge_dtype,
    extra_dtype,
    node_extra_dtype,
    root_dtype,
)
from plainzero.search.resolve_options import make_options
from plainzero.search.result import visits_to_policy
from plainzero.search.scratch_memory import make_streams
from plainzero.server.api.schemas.formula import (
    Child,
    Curve,
    FormulaAnswer,
    FormulaRequest,
    ScoredChild,
)

_CURVE_POINTS = 60
_NEAR_ONE = 1e-6  # tolerance for the sum of float32 priors
_GAME = TicTacToe()  # any game: options and states need one, selection at a root does not
_NODE = record_dtype(  # what selection reads of a node, in 64 bits for large sums of visits
    parent=np.int64,
    first_edge=np.int64,
    num_edges=np.int64,
    sum_visits=np.int64,
    mover=np.int64,
    value_sum=(np.float64, 1),
)
_NODE_EXTRA, _EDGE, _EXTRA, _AMAF = node_extra_dtype(), edge_dtype(), extra_dtype(), amaf_dtype()


def answer_formula(request: FormulaRequest) -> FormulaAnswer:
    """Scores, selections and curves for these children and options.

    Priors that do not sum to 1 are normalised; if all are 0, they become equal. Infinity is
    None: U of UCT without visits, Q without visits if `fpu` is infinite, and scores that contain
    them; the selection counts them as 10⁹, like the search. UCT has neither priors nor first-play
    urgency, so noise changes the priors shown but no score. As selections add visits, the parent's
    value includes the Q of each, as in a search.
    """
    options, tree = _make_options(request), _make_root(request)
    noise = _add_noise(tree, options, request.seed)
    formula = _make_formula(tree, options)
    priors: list[float] = tree.edges["prior"][0].tolist()
    policy = visits_to_policy([child.visits for child in request.children], request.temperature)
    points = _curve_points(request.curve_visits)
    rows = list(zip(request.children, priors, noise, policy.tolist(), strict=True))
    choice = int(best_edge(tree, options[0], 0, ROOT))
    order = _select(tree, options, request)  # last, because it adds visits
    return FormulaAnswer(
        children=[_score_child(formula, *row) for row in rows],
        choice=choice,
        c=formula.terms.c,
        term=formula.terms.parent,
        curves=[_draw_curve(formula, child, prior, points) for child, prior, _, _ in rows],
        order=order,
        visits_after=tree.edges["visits"][0].tolist(),
        parent_value_after=_parent_value(tree),
    )


def _make_options(request: FormulaRequest) -> NDArray[Any]:
    """[1] the options as compiled code reads them."""
    config = SearchConfig(
        selection=request.selection,
        c_uct=request.c_uct,
        c_puct=request.c_puct,
        c_puct_base=request.c_puct_base,
        visit_term=request.visit_term,
        visit_exponent=request.visit_exponent,
        fpu=_first_play_urgency(request),
        fpu_reduction=request.fpu_reduction,
        noise_weight=request.noise_weight,
        noise_alpha=request.noise_alpha,
    )
    return make_options(config, _GAME)


def _first_play_urgency(request: FormulaRequest) -> FirstPlayUrgency:
    """The option as a search resolves it: always infinite for UCT; otherwise auto is zero."""
    if request.selection == "uct":
        return "infinite"
    return "zero" if request.fpu == "auto" else request.fpu


def _make_root(request: FormulaRequest) -> Tree:
    """A root with one edge per child."""
    count = len(request.children)
    tree = Tree(
        nodes=np.zeros((1, 1), _NODE),
        node_extras=np.zeros((0, 0), _NODE_EXTRA),
        states=np.zeros((0, 0), _GAME.dtype),
        edges=np.zeros((1, count), _EDGE),
        extras=np.zeros((0, 0), _EXTRA),
        amaf=np.zeros((0, 0, 0), _AMAF),
        zones=np.zeros((0, 0, 0), np.uint64),
        templates=np.zeros((0, 0, 0, 0, 0), np.uint64),
        roots=np.zeros(1, root_dtype(_GAME)),
    )
    visits = np.array([child.visits for child in request.children], np.int64)
    q = np.array([child.q for child in request.children])
    edges, root = tree.edges[0], tree.nodes[0, ROOT]
    edges["prior"], edges["visits"], edges["value_sum"] = _priors(request), visits, q * visits
    edges["q"] = np.where(visits > 0, q, 0.0)
    root.num_edges, root.sum_visits = count, visits.sum()
    root.value_sum[0] = request.parent_value * (1.0 + root.sum_visits)
    return tree


def _priors(request: FormulaRequest) -> NDArray[np.float64]:
    """The priors, normalised to a sum of 1."""
    priors = np.array([child.prior for child in request.children])
    total = math.fsum(priors)
    if total == 0.0:
        return np.full(len(priors), 1.0 / len(priors))
    return priors if abs(total - 1.0) <= _NEAR_ONE else priors / total


class _Draws(NamedTuple):
    """The part of a search's scratch memory that root noise uses."""

    work: NDArray[Any]  # [1]
    streams: NDArray[np.uint64]  # [1]


def _add_noise(tree: Tree, options: NDArray[Any], seed: int) -> list[float]:
    """Mixes noise into the priors as a search with this seed does; returns η of each edge."""
    count = tree.edges.shape[1]
    if not options[0].noise_weight > 0.0:
        return [0.0] * count
    work = np.zeros(1, record_dtype(weights=(np.float64, count)))
    with np.errstate(over="ignore"):  # a tiny alpha: compiled code ignores the overflow, and η is 0
        draws: Any = _Draws(work, make_streams(seed, 1))
        add_dirichlet_noise(tree, draws, options[0], 0)
    gammas: list[float] = work["weights"][0].tolist()
    total = sum(gammas)
    return [gamma / total for gamma in gammas] if total > 0.0 else gammas


class _Formula(NamedTuple):
    """How a child is scored."""

    selection: int
    terms: Terms
    first_play: float | None  # Q without visits; None: infinite

    def q(self, child: Child, visits: int) -> float | None:
        """Q of the child if it had that many visits."""
        return child.q if visits > 0 else self.first_play

    def score(self, q: float | None, prior: float, visits: int) -> float | None:
        """Q + U; None: infinite."""
        if q is None or (visits == 0 and self.selection == UCT):
            return None
        return float(edge_score(self.selection, q, prior, visits, self.terms))


def _make_formula(tree: Tree, options: NDArray[Any]) -> _Formula:
    terms = node_terms(tree, options[0], 0, ROOT)
    # Python floats, because NumPy scalars are several times slower.
    terms = terms._replace(
        first_play=float(terms.first_play), c=float(terms.c), parent=float(terms.parent)
    )
    selection = int(options[0].selection)
    is_infinite = options[0].fpu == FPU_INFINITE and selection != UCT
    return _Formula(selection, terms, None if is_infinite else terms.first_play)


def _score_child(
    formula: _Formula, child: Child, prior: float, noise: float, policy: float
) -> ScoredChild:
    q = formula.q(child, child.visits)
    return ScoredChild(
        noise=noise,
        prior=prior,
        q=q,
        u=formula.score(0.0, prior, child.visits),
        score=formula.score(q, prior, child.visits),
        policy=policy,
    )


def _draw_curve(formula: _Formula, child: Child, prior: float, points: tuple[int, ...]) -> Curve:
    scores = [formula.score(formula.q(child, visits), prior, visits) for visits in points]
    return Curve(visits=list(points), scores=scores)


@functools.lru_cache(maxsize=64)
def _curve_points(last: int) -> tuple[int, ...]:
    """About 60 numbers from 0 to `last`: consecutive at first, then with growing gaps."""
    points = [0, 1]
    while points[-1] < last:
        left = max(1, _CURVE_POINTS - len(points))
        wider = round(points[-1] * (last / points[-1]) ** (1 / left))
        points.append(min(last, max(points[-1] + 1, wider)))
    return tuple(points)


def _select(tree: Tree, options: NDArray[Any], request: FormulaRequest) -> list[int]:
    """The edges selected one after the other, each of which gains a visit."""
    order = np.zeros(request.selections, np.int64)
    if request.selections > 0:
        given = np.array([child.q for child in request.children])
        select_in_turn(_GAME.tag, tree, options, given, order)
    taken: list[int] = order.tolist()
    return taken


def _parent_value(tree: Tree) -> float:
    root = tree.nodes[0, ROOT]
    return float(root.value_sum[0] / (1.0 + root.sum_visits))


@Kernel
def select_in_turn(
    tree: Tree, options: NDArray[Any], given: NDArray[np.float64], order: NDArray[np.int64]
) -> None:
    """Writes the edges selected one after the other; each visit of an edge returns given[edge]."""
    node = tree.nodes[0, ROOT]
    for step in range(order.shape[0]):
        place = best_edge(tree, options[0], 0, ROOT)
        edge = tree.edges[0, place]
        edge.visits += 1
        edge.q = given[place]
        edge.value_sum = given[place] * edge.visits
        node.sum_visits += 1
        node.value_sum[0] += given[place]
        order[step] = place
