"""Random playouts, and the value of a leaf from them."""

from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.games.contract import State
from plainzero.games.rules import (
    awaits_chance,
    chance_outcomes,
    has_trials,
    may_play_out,
    num_actions,
    play,
    playout_actions,
)
from plainzero.search.kernels.amaf import add_to_trail, learn_from_trail, write_trail
from plainzero.search.kernels.options import AMAF_OFF, Options
from plainzero.search.kernels.random_streams import random_below, random_unit
from plainzero.search.kernels.scratch import NO_LEGAL_ACTION, NOT_ENDING, Scratch
from plainzero.search.kernels.tree import Tree

_TRIALS = 16


@kernel_function
def add_rollouts(tree: Tree, scratch: Scratch, options: Options, b: int, leaf: int) -> None:
    """Sets the leaf's value to (1 − λ) · evaluator + λ · mean of `rollouts` playouts."""
    weight, work, evaluation = (
        options.rollout_weight,
        scratch.work[b],
        tree.nodes[b, leaf].value_sum,
    )
    players = work.values.shape[0]
    place = tree.states.shape[1] - 1  # reserved for this
    for player in range(players):
        work.rollout_sum[player] = 0.0
    depth = write_trail(tree, scratch, b, leaf) if options.amaf != AMAF_OFF else 0
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
def rollout(state: State, scratch: Scratch, options: Options, b: int, place: int) -> int:
    """Plays `state` to its end with random moves; returns the end of game b's trail."""
    while not state.is_over:
        if state.turn >= options.max_turns:
            scratch.work[b].faults |= NOT_ENDING
            return place
        if awaits_chance(state):
            action = sample_chance(state, scratch, b)
        else:
            action = draw_action(state, scratch, b)
            if action < 0:
                scratch.work[b].faults |= NO_LEGAL_ACTION
                return place
        if options.amaf != AMAF_OFF:
            add_to_trail(scratch, b, place, state.to_play, action)
            place += 1
        play(state, action)
    return place


@kernel_function
def draw_action(state: State, scratch: Scratch, b: int) -> int:
    """The next action of a playout, drawn evenly from those it may choose; −1 if there is none.

    If the game recognises single actions, random ones are tried first: usually faster than a list.
    """
    if has_trials(state):
        for _ in range(_TRIALS):
            action = random_below(scratch.streams, b, num_actions(state))
            if may_play_out(state, action):
                return action
    actions = scratch.work[b].actions
    count = playout_actions(state, actions)
    return actions[random_below(scratch.streams, b, count)] if count > 0 else -1


@kernel_function
def sample_chance(state: State, scratch: Scratch, b: int) -> int:
    """One of chance's outcomes in `state`, drawn by probability."""
    outcomes, probabilities = scratch.work[b].actions, scratch.work[b].probabilities
    count = chance_outcomes(state, outcomes, probabilities)
    x = random_unit(scratch.streams, b)
    total = 0.0
    for index in range(count):
        total += probabilities[index]
        if x < total:
            return outcomes[index]
    return outcomes[count - 1]
