"""Random playouts, and a leaf's value from them."""

from typing import Any

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import CHANCE
from plainzero.games.rules import chance_outcomes, play, playout_actions
from plainzero.search.kernels.amaf import add_to_trail, lay_trail, learn_from_trail
from plainzero.search.kernels.random_streams import random_below, random_unit
from plainzero.search.kernels.scratch import NO_LEGAL_ACTION, NOT_ENDING
from plainzero.search.resolve_options import AMAF_OFF


@kernel_function
def add_rollouts(tree: Any, scratch: Any, options: Any, b: Any, leaf: Any) -> None:
    """The leaf's value becomes (1 − λ) · evaluator + λ · mean of `rollouts` playouts."""
    weight, work, evaluation = (
        options.rollout_weight,
        scratch.work[b],
        tree.nodes[b, leaf].value_sum,
    )
    players = work.values.shape[0]
    place = tree.states.shape[1] - 1  # kept free for this
    for player in range(players):
        work.rollout_sum[player] = 0.0
    depth = lay_trail(tree, scratch, b, leaf) if options.amaf != AMAF_OFF else 0
    played = 0
    while played < options.rollouts and (played == 0 or work.stop == 0):
        played += 1
        tree.states[b, place] = tree.states[b, leaf]
        length = rollout(tree.states[b, place], scratch, options, b, depth)
        for player in range(players):
            result = float(tree.states[b, place].returns[player])
            work.rollout_sum[player] += result
            work.values[player] = (1.0 - weight) * evaluation[player] + weight * result
        if options.amaf != AMAF_OFF:
            learn_from_trail(tree, scratch, b, leaf, depth, length)
    for player in range(players):
        mean = work.rollout_sum[player] / played
        evaluation[player] = (1.0 - weight) * evaluation[player] + weight * mean


@kernel_function
def rollout(state: Any, scratch: Any, options: Any, b: Any, place: Any) -> Any:
    """Plays `state` to its end with random playout moves; returns where game b's trail ends."""
    actions = scratch.work[b].actions
    while not state.is_over:
        if state.turn >= options.max_turns:
            scratch.work[b].faults |= NOT_ENDING
            return place
        if state.to_play == CHANCE:
            action = sample_chance(state, scratch, b)
        else:
            count = playout_actions(state, actions)
            if count == 0:
                scratch.work[b].faults |= NO_LEGAL_ACTION
                return place
            action = actions[random_below(scratch.streams, b, count)]
        if options.amaf != AMAF_OFF:
            add_to_trail(scratch, b, place, state.to_play, action)
            place += 1
        play(state, action)
    return place


@kernel_function
def sample_chance(state: Any, scratch: Any, b: Any) -> Any:
    """One of chance's outcomes in `state`, drawn with its probability."""
    outcomes, probabilities = scratch.work[b].actions, scratch.work[b].probabilities
    count = chance_outcomes(state, outcomes, probabilities)
    x = random_unit(scratch.streams, b)
    total = 0.0
    for index in range(count):
        total += probabilities[index]
        if x < total:
            return outcomes[index]
    return outcomes[count - 1]
