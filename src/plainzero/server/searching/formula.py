"""Selection's formulas with numbers of one's own: what the page shows when a slider moves.

The children become the edges of a root as a search has them, and the engine's own functions answer:
noise, first-play urgency, scores, the choice, and the policy. As in a search, priors are kept as
float32, N of the root is ΣN, and of equal scores the first wins.
"""

import functools
import hashlib
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel
from plainzero.compiler.record_types import record_dtype
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.search.config import FirstPlayUrgency, SearchConfig
from plainzero.search.kernels.random_streams import make_streams
from plainzero.search.kernels.root import add_dirichlet_noise
from plainzero.search.kernels.selection import Terms, best_edge, edge_score, node_terms
from plainzero.search.resolve_options import FPU_INFINITE, UCT, make_options
from plainzero.search.result import visits_to_policy
from plainzero.search.tree_memory import (
    ROOT,
    Tree,
    amaf_dtype,
    edge_dtype,
    extra_dtype,
    node_extra_dtype,
    root_dtype,
)
from plainzero.server.api.schemas.formula import (
    Child,
    Curve,
    FormulaAnswer,
    FormulaRequest,
    ScoredChild,
)

_CURVE_POINTS = 60
_NEAR_ONE = 1e-6  # how far rounding to float32 may take the sum of priors from 1
_GAME = TicTacToe()  # options and states are a game's; selection at a root looks at none of it
_NODE = record_dtype(  # what selection reads of a node; in 64 bits, for the visits of all children
    parent=np.int64,
    first_edge=np.int64,
    num_edges=np.int64,
    sum_visits=np.int64,
    mover=np.int64,
    value_sum=(np.float64, 1),
)
_NODE_EXTRA, _EDGE, _EXTRA, _AMAF = node_extra_dtype(), edge_dtype(), extra_dtype(), amaf_dtype()


def answer_formula(request: FormulaRequest) -> FormulaAnswer:
    """Every number that the page shows for these children and options.

    Priors that do not sum to 1 are normalised; where all are 0, they are equal. What is infinite is
    None: the U of UCT without visits, the Q without visits where `fpu` is infinite, and the scores
    made of them; in the choice it counts 10⁹, as in the engine. UCT has neither priors nor
    first-play urgency, so there noise changes the priors shown and no score. As selections add
    visits, the parent's value takes in the Q of each, as in a search.
    """
    options, tree = _make_options(request), _make_root(request)
    noise = _add_noise(tree, options, request.seed)
    formula = _make_formula(tree, options)
    priors: list[float] = tree.edges["prior"][0].tolist()
    policy = visits_to_policy([child.visits for child in request.children], request.temperature)
    points = _curve_points(request.curve_visits)
    rows = list(zip(request.children, priors, noise, policy.tolist(), strict=True))
    choice = int(best_edge(tree, options[0], 0, ROOT))
    order = _select(tree, options, request)  # the last to see the tree, because it adds visits
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


def _make_options(request: FormulaRequest) -> Any:
    """[1] the options as compiled code sees them."""
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
    """What a search makes of it: UCT's own formula is infinite, and for the others auto is zero."""
    if request.selection == "uct":
        return "infinite"
    return "zero" if request.fpu == "auto" else request.fpu


def _make_root(request: FormulaRequest) -> Tree:
    """A root with the children for edges."""
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
    """The priors given, with a sum of 1."""
    priors = np.array([child.prior for child in request.children])
    total = math.fsum(priors)
    if total == 0.0:
        return np.full(len(priors), 1.0 / len(priors))
    return priors if abs(total - 1.0) <= _NEAR_ONE else priors / total


class _Draws(NamedTuple):
    """What the root's noise needs of a search's working memory."""

    work: NDArray[Any]  # [1]
    streams: NDArray[np.uint64]  # [1]


def _add_noise(tree: Tree, options: Any, seed: int) -> list[float]:
    """η of each edge, after mixing it into the priors: what a search with this seed draws."""
    count = tree.edges.shape[1]
    if not options[0].noise_weight > 0.0:
        return [0.0] * count
    work = np.zeros(1, record_dtype(weights=(np.float64, count)))
    with np.errstate(over="ignore"):  # a tiny alpha: compiled code goes on silently, with η = 0
        add_dirichlet_noise(tree, _Draws(work, make_streams(seed, 1)), options[0], 0)
    gammas: list[float] = work["weights"][0].tolist()
    total = sum(gammas)
    return [gamma / total for gamma in gammas] if total > 0.0 else gammas


class _Formula(NamedTuple):
    """How a child is scored."""

    selection: int
    terms: Terms
    first_play: float | None  # Q without visits; None: infinite

    def q(self, child: Child, visits: int) -> float | None:
        """Q of the child if it had so many visits."""
        return child.q if visits > 0 else self.first_play

    def score(self, q: float | None, prior: float, visits: int) -> float | None:
        """Q + U; None: infinite."""
        if q is None or (visits == 0 and self.selection == UCT):
            return None
        return float(edge_score(self.selection, q, prior, visits, self.terms))


def _make_formula(tree: Tree, options: Any) -> _Formula:
    terms = node_terms(tree, options[0], 0, ROOT)
    # Numbers of Python's own, because NumPy's take several times as long, one at a time.
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
    """0 … last: every whole number at first, then ever wider apart, about 60 in all."""
    points = [0, 1]
    while points[-1] < last:
        left = max(1, _CURVE_POINTS - len(points))
        wider = round(points[-1] * (last / points[-1]) ** (1 / left))
        points.append(min(last, max(points[-1] + 1, wider)))
    return tuple(points)


def _select(tree: Tree, options: Any, request: FormulaRequest) -> list[int]:
    """The edges that selection takes one after the other; they get the visits."""
    order = np.zeros(request.selections, np.int64)
    if request.selections > 0:
        given = np.array([child.q for child in request.children])
        select_in_turn(_tag(), tree, options, given, order)
    taken: list[int] = order.tolist()
    return taken


def _parent_value(tree: Tree) -> float:
    root = tree.nodes[0, ROOT]
    return float(root.value_sum[0] / (1.0 + root.sum_visits))


@Kernel
def select_in_turn(tree: Any, options: Any, given: Any, order: Any) -> None:
    """Writes the edges selected one after the other; every visit of an edge gives given[edge]."""
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


@functools.cache
def _tag() -> str:
    """Names all source in the compiled code, for the disk cache: the search's by the game's tag."""
    own = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    return f"{_GAME.tag}_{own}"
