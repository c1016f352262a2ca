"""The turns of a game, in compiled code: start, search, choose a move, play it, end.

`take_turn` runs after each round of leaves. Once the search of game b has finished, it records the
move, plays it, and prepares the next search. Each game draws from its own random stream, so that it
does not depend on the games played beside it.

`play_options` is the record of `make_play_options`; kernels get it as an array of one.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.cpu_kernels import Kernel, kernel_function
from plainzero.compiler.record_types import Record
from plainzero.games.rules import awaits_chance, legal_actions, play
from plainzero.search.kernels.decision import choose_action, write_policy_target
from plainzero.search.kernels.gumbel import SMALLEST_PRIOR
from plainzero.search.kernels.options import Options
from plainzero.search.kernels.random_streams import random_below, random_unit
from plainzero.search.kernels.reuse import advance
from plainzero.search.kernels.rollout import sample_chance
from plainzero.search.kernels.scratch import NO_LEGAL_ACTION, NOT_ENDING, Scratch
from plainzero.search.kernels.simulation import is_finished
from plainzero.search.kernels.tree import ROOT, Tree
from plainzero.selfplay.games_in_progress import (
    BY_PROOF,
    BY_RESIGNATION,
    BY_RULES,
    IN_PROGRESS,
    NOBODY,
    Games,
)
from plainzero.targets.target import PROVEN, SEARCHED, UNSEARCHED

_OPENINGS_TRIED = 16  # random moves may end the game; then another opening is drawn


@Kernel
def start_games(
    tree: Tree,
    scratch: Scratch,
    games: Games,
    play_options: Record,
    rows: NDArray[np.int64],
    count: int,
) -> None:
    """Starts a new game in each of rows[:count]."""
    for index in range(count):
        start_game(tree, scratch, games, play_options[0], rows[index])


@Kernel
def start_searches(tree: Tree, scratch: Scratch, games: Games, play_options: NDArray[Any]) -> None:
    """Restarts the current search of every game, after its weights or the whole game changed."""
    for b in range(games.status.shape[0]):
        tree.roots[b].num_nodes = 0
        start_search(tree, scratch, games, play_options[0], b)


@Kernel
def take_turns(
    tree: Tree,
    scratch: Scratch,
    games: Games,
    play_options: Record,
    options: Any,
    ended: NDArray[np.int64],
) -> int:
    """Plays a move in each game whose search has finished.

    Returns the number of games that ended; `ended` gets their rows.
    """
    count = 0
    for b in range(games.status.shape[0]):
        take_turn(tree, scratch, options[0], games, play_options[0], b)
        if games.status[b].ending != IN_PROGRESS:
            ended[count] = b
            count += 1
    return count


@kernel_function
def start_game(tree: Tree, scratch: Scratch, games: Games, play_options: Record, b: int) -> None:
    """Resets game b, plays its random opening, and starts its first search."""
    status = games.status[b]
    status.simulations = 0
    status.searches = 0
    status.first_step = play_options.step
    status.ending = IN_PROGRESS
    status.would_resign = NOBODY
    status.is_checked = random_unit(scratch.streams, b) < play_options.resign_checked
    for player in range(status.low_turns.shape[0]):
        status.low_turns[player] = 0
    plies = draw_opening(scratch, games, play_options, b)
    for _ in range(_OPENINGS_TRIED):
        begin_board(scratch, games, b)
        play_opening(scratch, games, b, plies)
        if not games.states[b].is_over:
            break
        plies = plies // 2
    if games.states[b].is_over:
        begin_board(scratch, games, b)
    status.opening = status.length
    tree.roots[b].num_nodes = 0
    start_search(tree, scratch, games, play_options, b)


@kernel_function
def draw_opening(scratch: Scratch, games: Games, play_options: Record, b: int) -> int:
    """The number of random moves with which game b starts."""
    if play_options.staggered:
        begin_board(scratch, games, b)
        played = play_opening(scratch, games, b, games.moves.shape[1])
        return random_below(scratch.streams, b, played)
    if random_unit(scratch.streams, b) < play_options.opening_share:
        return random_below(scratch.streams, b, play_options.opening_plies + 1)
    return 0


@kernel_function
def begin_board(scratch: Scratch, games: Games, b: int) -> None:
    """Resets game b to the first position in which a player moves."""
    games.states[b] = games.states[games.states.shape[0] - 1]
    games.status[b].length = 0
    play_chance(scratch, games, b)


@kernel_function
def play_opening(scratch: Scratch, games: Games, b: int, plies: int) -> int:
    """Plays `plies` random moves, or fewer if the game ends; returns how many, without chance's."""
    actions = scratch.work[b].actions
    for played in range(plies):
        if games.states[b].is_over:
            return played
        count = legal_actions(games.states[b], actions)
        if count == 0:
            scratch.work[b].faults |= NO_LEGAL_ACTION
            return played
        if games.status[b].length >= games.moves.shape[1] - 1:
            scratch.work[b].faults |= NOT_ENDING
            return played
        play_unsearched(games, b, actions[random_below(scratch.streams, b, count)])
        play_chance(scratch, games, b)
    return plies


@kernel_function
def play_chance(scratch: Scratch, games: Games, b: int) -> None:
    """Plays the moves of chance until a player is to move."""
    while awaits_chance(games.states[b]) and not games.states[b].is_over:
        if games.status[b].length >= games.moves.shape[1] - 1:
            scratch.work[b].faults |= NOT_ENDING
            return
        play_unsearched(games, b, sample_chance(games.states[b], scratch, b))


@kernel_function
def play_unsearched(games: Games, b: int, action: int) -> None:
    """Plays a move that was not searched, and thus is no target."""
    move = games.moves[b, games.status[b].length]
    move.action = action
    move.is_target = False
    move.search = UNSEARCHED
    move.surprise = 0.0
    for player in range(move.values.shape[0]):
        move.values[player] = 0.0
    games.status[b].length += 1
    play(games.states[b], action)


@kernel_function
def start_search(tree: Tree, scratch: Scratch, games: Games, play_options: Record, b: int) -> None:
    """Starts the next search of game b: a full or a cheap one."""
    status, work = games.status[b], scratch.work[b]
    status.is_full = (
        play_options.full_share >= 1.0 or random_unit(scratch.streams, b) < play_options.full_share
    )
    tree.roots[b].is_cheap = not status.is_full
    work.simulation_limit = (
        play_options.full_simulations if status.is_full else play_options.cheap_simulations
    )
    work.visit_limit = play_options.full_visits if status.is_full else 0
    work.simulations = 0
    work.tidied_at = 0
    work.num_leaves = 0
    work.has_begun = False


@kernel_function
def take_turn(
    tree: Tree, scratch: Scratch, options: Options, games: Games, play_options: Record, b: int
) -> None:
    """Plays the move of game b if its search has finished."""
    status = games.status[b]
    if status.ending != IN_PROGRESS or not scratch.work[b].has_begun:
        return
    if not is_finished(tree, scratch, options, b):
        return
    status.simulations += scratch.work[b].simulations
    status.searches += 1
    action = write_move(tree, scratch, options, games, play_options, b)
    if tree.roots[b].is_proven and play_options.end_proven:
        end_by_proof(tree, games, b)
    elif is_hopeless(games, play_options, b):
        end_by_resignation(games, b)
    else:
        play_searched(tree, scratch, games, play_options, b, action)
        if games.states[b].is_over:
            end_by_rules(games, b)
        else:
            start_search(tree, scratch, games, play_options, b)


@kernel_function
def write_move(
    tree: Tree, scratch: Scratch, options: Options, games: Games, play_options: Record, b: int
) -> int:
    """Records the result of the search and the chosen move, which is returned."""
    status = games.status[b]
    status.last_step = play_options.step
    move = games.moves[b, status.length]
    move.is_target = status.is_full
    move.search = PROVEN if tree.roots[b].is_proven else SEARCHED
    move.surprise = 0.0
    write_root_values(tree, b, move)
    if status.is_full:
        weights, first = scratch.work[b].weights, tree.nodes[b, ROOT].first_edge
        write_policy_target(tree, options, b, weights)
        if play_options.records_surprise:
            move.surprise = measure_surprise(tree, b, weights)
        policy = games.policies[b, status.length]
        for action in range(policy.shape[0]):
            policy[action] = 0.0
        for index in range(tree.nodes[b, ROOT].num_edges):
            policy[tree.edges[b, first + index].action] = weights[index]
    is_early = (
        play_options.temperature_turns == 0 or games.states[b].turn < play_options.temperature_turns
    )
    temperature = play_options.temperature if is_early else 0.0
    move.action = choose_action(tree, scratch, options, b, temperature)
    return move.action


@kernel_function
def measure_surprise(tree: Tree, b: int, weights: NDArray[np.float64]) -> float:
    """KL of a policy, given by the root's edges, from the network's prior without noise."""
    surprise = 0.0
    for index in range(tree.nodes[b, ROOT].num_edges):
        if weights[index] > 0.0:
            prior = float(tree.roots[b].clean_prior[index]) + SMALLEST_PRIOR
            surprise += weights[index] * math.log(weights[index] / prior)
    return max(0.0, surprise)


@kernel_function
def write_root_values(tree: Tree, b: int, move: Record) -> None:
    """Writes the root's value for each player: the mean, or the exact value if proven."""
    node, root = tree.nodes[b, ROOT], tree.roots[b]
    for player in range(move.values.shape[0]):
        if root.is_proven:
            move.values[player] = root.exact if player == node.mover else -root.exact
        else:
            move.values[player] = node.value_sum[player] / (1.0 + node.sum_visits)


@kernel_function
def is_hopeless(games: Games, play_options: Record, b: int) -> bool:
    """Whether the player to move resigns; counts the turns on which its value was low."""
    if play_options.resign_below <= 0.0:
        return False
    status, player = games.status[b], games.states[b].to_play
    if games.moves[b, status.length].values[player] < -play_options.resign_below:
        status.low_turns[player] += 1
    else:
        status.low_turns[player] = 0
    if status.low_turns[player] < play_options.resign_turns or status.would_resign != NOBODY:
        return False
    status.would_resign = player
    return not status.is_checked


@kernel_function
def play_searched(
    tree: Tree, scratch: Scratch, games: Games, play_options: Record, b: int, action: int
) -> None:
    """Plays the chosen move and those of chance; advances the tree to there, or empties it."""
    begin = games.status[b].length
    games.status[b].length += 1
    play(games.states[b], action)
    play_chance(scratch, games, b)
    if games.status[b].length >= games.moves.shape[1] - 1 and not games.states[b].is_over:
        scratch.work[b].faults |= NOT_ENDING
    if not play_options.reuse_tree:
        tree.roots[b].num_nodes = 0
    else:
        for turn in range(begin, games.status[b].length):
            advance(tree, b, games.moves[b, turn].action)


@kernel_function
def end_by_rules(games: Games, b: int) -> None:
    """Ends game b, which is over."""
    status = games.status[b]
    status.ending = BY_RULES
    for player in range(status.returns.shape[0]):
        status.returns[player] = games.states[b].returns[player]


@kernel_function
def end_by_proof(tree: Tree, games: Games, b: int) -> None:
    """Ends game b with its proven result; this position and its move are the record's last."""
    status = games.status[b]
    status.ending = BY_PROOF
    exact, mover = tree.roots[b].exact, tree.nodes[b, ROOT].mover
    for player in range(status.returns.shape[0]):
        status.returns[player] = exact if player == mover else -exact
    status.length += 1


@kernel_function
def end_by_resignation(games: Games, b: int) -> None:
    """Ends game b: the player to move resigns, the other one wins."""
    status, player = games.status[b], games.states[b].to_play
    status.ending = BY_RESIGNATION
    for other in range(status.returns.shape[0]):
        status.returns[other] = -1.0 if other == player else 1.0
    status.length += 1
