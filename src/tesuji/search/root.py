"""What happens at the root before the first simulation: noise, and Gumbel's draws."""

from typing import Any

from tesuji.compiling import kernel_function
from tesuji.search.options import GUMBEL
from tesuji.search.random import random_gamma, random_gumbel
from tesuji.search.tree import ROOT


@kernel_function
def prepare_root(tree: Any, scratch: Any, options: Any, b: Any) -> None:
    """Draws the root's noise, once per search; the evaluator's prior is kept beside it."""
    keep_clean_prior(tree, b)
    if options.noise_weight > 0.0:
        add_dirichlet_noise(tree, scratch, options, b)
    if options.selection == GUMBEL:
        first, work = tree.nodes[b, ROOT].first_edge, scratch.work[b]
        for index in range(tree.nodes[b, ROOT].num_edges):
            work.gumbel[index] = random_gumbel(scratch.streams, b)
            work.base_visits[index] = tree.edges[b, first + index].visits


@kernel_function
def keep_clean_prior(tree: Any, b: Any) -> None:
    """Saves a new root's prior, or takes back the noise of an earlier search at this root."""
    first, root = tree.nodes[b, ROOT].first_edge, tree.roots[b]
    for index in range(tree.nodes[b, ROOT].num_edges):
        if root.has_clean_prior:
            tree.edges[b, first + index].prior = root.clean_prior[index]
        else:
            root.clean_prior[index] = tree.edges[b, first + index].prior
    root.has_clean_prior = True


@kernel_function
def add_dirichlet_noise(tree: Any, scratch: Any, options: Any, b: Any) -> None:
    """P becomes (1 − ε) · P + ε · η, η from Dirichlet(α) over the legal moves."""
    first, count = tree.nodes[b, ROOT].first_edge, tree.nodes[b, ROOT].num_edges
    alpha = options.noise_alpha if options.noise_alpha > 0.0 else 10.0 / count
    noise, total = scratch.work[b].weights, 0.0
    for index in range(count):
        noise[index] = random_gamma(scratch.streams, b, alpha)
        total += noise[index]
    if total <= 0.0:  # every draw of a tiny alpha was too small for a float
        return
    weight = options.noise_weight
    for index in range(count):
        edge = tree.edges[b, first + index]
        edge.prior = (1.0 - weight) * float(edge.prior) + weight * (noise[index] / total)
