"""A game's turns in compiled code: begin, search, decide, play on, end.

`take_turn` runs after each round of leaves; where game b's search has just finished it writes the
move down, plays it, and makes ready for the next search. Nothing here draws from another game's
stream, so a game is the same whatever is played beside it.
"""

from typing import Any

from plainzero.compiler.cpu_kernels import Kernel, kernel_function
from plainzero.games.contract import CHANCE
from plainzero.games.rules import legal_actions, play
from plainzero.search.kernels.decision import choose_action, write_policy_target
from plainzero.search.kernels.random_streams import random_below, random_unit
from plainzero.search.kernels.reuse import advance
from plainzero.search.kernels.rollout import sample_chance
from plainzero.search.kernels.scratch import NO_LEGAL_ACTION, NOT_ENDING
from plainzero.search.kernels.simulation import is_finished
from plainzero.search.tree_memory import ROOT
from plainzero.selfplay.games_in_progress import (
    BY_PROOF,
    BY_RESIGNATION,
    BY_RULES,
    IN_PROGRESS,
    NOBODY,
)

_OPENINGS_TRIED = 16  # random moves may end a game; then another opening is drawn


@Kernel
def start_games(tree: Any, scratch: Any, games: Any, plan: Any, which: Any, count: Any) -> None:
    """Begins a new game in rows which[0] … which[count − 1]."""
    for index in range(count):
        start_game(tree, scratch, games, plan[0], which[index])


@Kernel
def start_searches(tree: Any, scratch: Any, games: Any, plan: Any) -> None:
    """Begins every game's current search anew: its weights, or everything, have changed."""
    for b in range(games.seats.shape[0]):
        tree.roots[b].num_nodes = 0
        start_search(tree, scratch, games, plan[0], b)


@Kernel
def take_turns(tree: Any, scratch: Any, games: Any, plan: Any, options: Any, ended: Any) -> Any:
    """Plays a move where a search has finished; writes the rows that ended, returns how many."""
    count = 0
    for b in range(games.seats.shape[0]):
        take_turn(tree, scratch, options[0], games, plan[0], b)
        if games.seats[b].ending != IN_PROGRESS:
            ended[count] = b
            count += 1
    return count


@kernel_function
def start_game(tree: Any, scratch: Any, games: Any, plan: Any, b: Any) -> None:
    """Sets up game b, plays its random opening, and begins its first search."""
    seat = games.seats[b]
    seat.simulations = 0
    seat.searches = 0
    seat.first_step = plan.step
    seat.ending = IN_PROGRESS
    seat.would_resign = NOBODY
    seat.is_checked = random_unit(scratch.streams, b) < plan.resign_checked
    for player in range(seat.low_turns.shape[0]):
        seat.low_turns[player] = 0
    plies = 0
    if random_unit(scratch.streams, b) < plan.opening_share:
        plies = random_below(scratch.streams, b, plan.opening_plies + 1)
    for _ in range(_OPENINGS_TRIED):
        begin_board(scratch, games, b)
        play_opening(scratch, games, b, plies)
        if not games.states[b].is_over:
            break
        plies = plies // 2
    if games.states[b].is_over:
        begin_board(scratch, games, b)
    seat.opening = seat.length
    tree.roots[b].num_nodes = 0
    start_search(tree, scratch, games, plan, b)


@kernel_function
def begin_board(scratch: Any, games: Any, b: Any) -> None:
    """The first position in which somebody moves."""
    games.states[b] = games.states[games.states.shape[0] - 1]
    games.seats[b].length = 0
    play_chance(scratch, games, b)


@kernel_function
def play_opening(scratch: Any, games: Any, b: Any, plies: Any) -> None:
    """Plays that many random moves, or fewer where the game ends."""
    actions = scratch.work[b].actions
    for _ in range(plies):
        if games.states[b].is_over:
            return
        count = legal_actions(games.states[b], actions)
        if count == 0:
            scratch.work[b].faults |= NO_LEGAL_ACTION
            return
        play_unsearched(games, b, actions[random_below(scratch.streams, b, count)])
        play_chance(scratch, games, b)


@kernel_function
def play_chance(scratch: Any, games: Any, b: Any) -> None:
    """Draws what chance does until a player is to move."""
    while games.states[b].to_play == CHANCE and not games.states[b].is_over:
        if games.seats[b].length >= games.moves.shape[1] - 1:
            scratch.work[b].faults |= NOT_ENDING
            return
        play_unsearched(games, b, sample_chance(games.states[b], scratch, b))


@kernel_function
def play_unsearched(games: Any, b: Any, action: Any) -> None:
    """Plays a move that nobody thought about: it is never a target."""
    move = games.moves[b, games.seats[b].length]
    move.action = action
    move.is_target = False
    for player in range(move.values.shape[0]):
        move.values[player] = 0.0
    games.seats[b].length += 1
    play(games.states[b], action)


@kernel_function
def start_search(tree: Any, scratch: Any, games: Any, plan: Any, b: Any) -> None:
    """Decides how much game b's next search does."""
    seat, work = games.seats[b], scratch.work[b]
    seat.is_full = plan.full_share >= 1.0 or random_unit(scratch.streams, b) < plan.full_share
    tree.roots[b].is_cheap = not seat.is_full
    work.simulation_limit = plan.full_simulations if seat.is_full else plan.cheap_simulations
    work.visit_limit = plan.full_visits if seat.is_full else 0
    work.simulations = 0
    work.tidied_at = 0
    work.num_leaves = 0
    work.has_begun = False


@kernel_function
def take_turn(tree: Any, scratch: Any, options: Any, games: Any, plan: Any, b: Any) -> None:
    """Plays game b's move if its search has finished."""
    seat = games.seats[b]
    if seat.ending != IN_PROGRESS or not scratch.work[b].has_begun:
        return
    if not is_finished(tree, scratch, options, b):
        return
    seat.simulations += scratch.work[b].simulations
    seat.searches += 1
    action = write_move(tree, scratch, options, games, plan, b)
    if tree.roots[b].is_proven and plan.end_proven:
        end_by_proof(tree, games, b)
    elif is_hopeless(games, plan, b):
        end_by_resignation(games, b)
    else:
        play_searched(tree, scratch, games, plan, b, action)
        if games.states[b].is_over:
            end_by_rules(games, b)
        else:
            start_search(tree, scratch, games, plan, b)


@kernel_function
def write_move(tree: Any, scratch: Any, options: Any, games: Any, plan: Any, b: Any) -> Any:
    """Writes down what the search found, and the move; returns that."""
    seat = games.seats[b]
    move = games.moves[b, seat.length]
    move.is_target = seat.is_full
    write_root_values(tree, b, move)
    if seat.is_full:
        weights, first = scratch.work[b].weights, tree.nodes[b, ROOT].first_edge
        write_policy_target(tree, options, b, weights)
        policy = games.policies[b, seat.length]
        for action in range(policy.shape[0]):
            policy[action] = 0.0
        for index in range(tree.nodes[b, ROOT].num_edges):
            policy[tree.edges[b, first + index].action] = weights[index]
    is_early = plan.temperature_turns == 0 or games.states[b].turn < plan.temperature_turns
    temperature = plan.temperature if is_early else 0.0
    move.action = choose_action(tree, scratch, options, b, temperature)
    return move.action


@kernel_function
def write_root_values(tree: Any, b: Any, move: Any) -> None:
    """The root's value for each player: its mean, or exact where proven."""
    node, root = tree.nodes[b, ROOT], tree.roots[b]
    for player in range(move.values.shape[0]):
        if root.is_proven:
            move.values[player] = root.exact if player == node.mover else -root.exact
        else:
            move.values[player] = node.value_sum[player] / (1.0 + node.sum_visits)


@kernel_function
def is_hopeless(games: Any, plan: Any, b: Any) -> Any:
    """Whether the player to move gives up here; counts how long its value has been low."""
    if plan.resign_below <= 0.0:
        return False
    seat, player = games.seats[b], games.states[b].to_play
    if games.moves[b, seat.length].values[player] < -plan.resign_below:
        seat.low_turns[player] += 1
    else:
        seat.low_turns[player] = 0
    if seat.low_turns[player] < plan.resign_turns or seat.would_resign != NOBODY:
        return False
    seat.would_resign = player
    return not seat.is_checked


@kernel_function
def play_searched(tree: Any, scratch: Any, games: Any, plan: Any, b: Any, action: Any) -> None:
    """Plays the chosen move and what chance adds, and moves the tree along, or empties it."""
    begin = games.seats[b].length
    games.seats[b].length += 1
    play(games.states[b], action)
    play_chance(scratch, games, b)
    if games.seats[b].length >= games.moves.shape[1] - 1 and not games.states[b].is_over:
        scratch.work[b].faults |= NOT_ENDING
    if not plan.reuse_tree:
        tree.roots[b].num_nodes = 0
    else:
        for turn in range(begin, games.seats[b].length):
            advance(tree, b, games.moves[b, turn].action)


@kernel_function
def end_by_rules(games: Any, b: Any) -> None:
    """The game is over."""
    seat = games.seats[b]
    seat.ending = BY_RULES
    for player in range(seat.returns.shape[0]):
        seat.returns[player] = games.states[b].returns[player]


@kernel_function
def end_by_proof(tree: Any, games: Any, b: Any) -> None:
    """The search knows the result: this position is the last of the record, its move is too."""
    seat = games.seats[b]
    seat.ending = BY_PROOF
    exact, mover = tree.roots[b].exact, tree.nodes[b, ROOT].mover
    for player in range(seat.returns.shape[0]):
        seat.returns[player] = exact if player == mover else -exact
    seat.length += 1


@kernel_function
def end_by_resignation(games: Any, b: Any) -> None:
    """The player to move gives up; the other one wins."""
    seat, player = games.seats[b], games.states[b].to_play
    seat.ending = BY_RESIGNATION
    for other in range(seat.returns.shape[0]):
        seat.returns[other] = -1.0 if other == player else 1.0
    seat.length += 1
