"""The root before the first simulation: its creation, Dirichlet noise, and Gumbel's draws."""

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import State
from plainzero.search.kernels.expansion import expand, start_node
from plainzero.search.kernels.lanes import join_lanes, leads
from plainzero.search.kernels.options import GUMBEL, Options
from plainzero.search.kernels.random_streams import random_gamma, random_gumbel
from plainzero.search.kernels.scratch import Scratch
from plainzero.search.kernels.tree import ROOT, WORST_RESULT, Tree


@kernel_function
def begin(tree: Tree, scratch: Scratch, options: Options, b: int, state: State) -> None:
    """Creates a root for `state`, or prepares the one that is reused; once per search."""
    if scratch.work[b].has_begun:
        return
    is_new = tree.roots[b].num_nodes == 0
    join_lanes()
    if leads():
        scratch.work[b].has_begun = True
        if is_new:
            make_root(tree, scratch, options, b, state)
        elif tree.nodes[b, ROOT].num_edges > 0:
            prepare_root(tree, scratch, options, b)
    join_lanes()
    if is_new:
        expand(tree, scratch, options, b, ROOT, 0)


@kernel_function
def make_root(tree: Tree, scratch: Scratch, options: Options, b: int, state: State) -> None:
    """Writes a new root, except for its edges."""
    root = tree.roots[b]
    root.num_nodes = 1
    root.used_edges = 0
    root.has_clean_prior = False
    root.is_proven = False
    root.floor = WORST_RESULT
    for player in range(root.num_templates.shape[0]):
        root.num_templates[player] = 0
    tree.states[b, ROOT] = state
    start_node(tree, scratch, options, b, ROOT, ROOT, 0)


@kernel_function
def prepare_root(tree: Tree, scratch: Scratch, options: Options, b: int) -> None:
    """Draws the root's noise, once per search, and saves the evaluator's prior."""
    keep_clean_prior(tree, b)
    if options.noise_weight > 0.0 and not tree.roots[b].is_cheap:
        add_dirichlet_noise(tree, scratch, options, b)
    if options.selection == GUMBEL:
        first, work = tree.nodes[b, ROOT].first_edge, scratch.work[b]
        for index in range(tree.nodes[b, ROOT].num_edges):
            work.gumbel[index] = random_gumbel(scratch.streams, b)
            work.base_visits[index] = tree.edges[b, first + index].visits


@kernel_function
def keep_clean_prior(tree: Tree, b: int) -> None:
    """Saves a new root's prior, or removes the noise of an earlier search of this root."""
    first, root = tree.nodes[b, ROOT].first_edge, tree.roots[b]
    for index in range(tree.nodes[b, ROOT].num_edges):
        if root.has_clean_prior:
            tree.edges[b, first + index].prior = root.clean_prior[index]
        else:
            root.clean_prior[index] = tree.edges[b, first + index].prior
    root.has_clean_prior = True


@kernel_function
def add_dirichlet_noise(tree: Tree, scratch: Scratch, options: Options, b: int) -> None:
    """P becomes (1 − ε) · P + ε · η, η from Dirichlet(α) over the legal moves."""
    first, count = tree.nodes[b, ROOT].first_edge, tree.nodes[b, ROOT].num_edges
    alpha = options.noise_alpha if options.noise_alpha > 0.0 else 10.0 / count
    noise, total = scratch.work[b].weights, 0.0
    for index in range(count):
        noise[index] = random_gamma(scratch.streams, b, alpha)
        total += noise[index]
    if total <= 0.0:  # with a tiny alpha, every draw was too small for a float
        return
    weight = options.noise_weight
    for index in range(count):
        edge = tree.edges[b, first + index]
        edge.prior = (1.0 - weight) * float(edge.prior) + weight * (noise[index] / total)
