"""Computes the opening book of Connect Four on a GPU.

    python benchmarks/openings.py --out FILE --progress FILE

Enumerates all positions from ply 0 to `--leaf`. Questions about those of the last ply ("is the
score at least t?") are answered by the solver's own functions, one question per thread, with one
shared table; the outcomes of earlier plies follow by minimax. Only questions that may still matter
for ply `--plies` are asked, the most promising first. Results are written to `--progress` after
every round and read at the start, so the work can be interrupted and resumed.
"""

import argparse
import itertools
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import cuda, njit
from numba.extending import overload

from plainzero import make_game
from plainzero.compiler.record_types import record_dtype
from plainzero.opponents.connect_four import kernels
from plainzero.opponents.connect_four.bitboard import (
    count_bits,
    make_board,
    playable_cells,
    winning_cells,
)
from plainzero.opponents.connect_four.opening_book import (
    choose_images,
    enumerate_openings,
    play_column,
    position_keys,
)

MOST_COLUMNS = 7
NO_CHILD = -1  # the move is not legal, or wins
IDLE = -1
SLICE = 128  # nodes after which the threads of a warp meet, and idle ones take new questions
THREADS_PER_BLOCK = 64

# The solver's frame with smaller types: less memory traffic per node.
FRAME = record_dtype(
    own=np.uint64,
    occupied=np.uint64,
    signature=np.uint64,
    slot=np.int64,
    moves=(np.uint64, 7),
    weights=(np.int8, 7),
    threshold=np.int8,
    count=np.int8,
    next=np.int8,
)


@overload(count_bits, target="cuda")
def count_bits_on_gpu(bits):
    return lambda bits: cuda.popc(bits)


class Level(NamedTuple):
    """The positions of one ply, and the known bounds of their outcomes."""

    own: np.ndarray  # [n]
    occupied: np.ndarray  # [n]
    children: np.ndarray  # [n, cols] rows of the next level, most promising first
    low: np.ndarray  # [n] lower bound of the outcome
    high: np.ndarray  # [n] upper bound of the outcome
    wanted: np.ndarray  # [n, 2] whether "is it at least t?" matters, for t = 0 and 1


def main():
    options = read_options()
    start = time.perf_counter()
    game = make_game(options.game)
    board = make_board(game.rows, game.cols, options.slot_bits)
    levels = link_levels(board, enumerate_openings(board, options.leaf))
    if options.progress.exists():
        read_progress(levels[-1], options.progress)
    print(f"{len(levels[-1].own):,} leaves, {time.perf_counter() - start:.0f} s", flush=True)
    team = Team(board, levels[-1], options.threads)
    is_done = False
    while not is_done and time.perf_counter() - start < options.seconds:
        settle_levels(levels)
        queue = choose_questions(levels, options.plies, team)
        is_done = len(queue) == 0 and team.num_busy == 0
        if not is_done:
            team.work(queue, options.nodes)
            print(f"{time.perf_counter() - start:.0f} s: {describe(levels, team)}", flush=True)
        write_progress(levels[-1], options.progress)
    settle_levels(levels)
    write_book(levels, options.out)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, required=True, help="file for the book, as far as it is known"
    )
    parser.add_argument("--progress", type=Path, required=True, help="file to resume from")
    parser.add_argument("--game", default="connect-four")
    parser.add_argument("--plies", type=int, default=8, help="the book's last ply")
    parser.add_argument("--leaf", type=int, default=12, help="the ply of the questions")
    parser.add_argument("--slot-bits", type=int, default=33, help="log2 of the table's words")
    parser.add_argument("--threads", type=int, default=132 * 512)
    parser.add_argument("--nodes", type=int, default=1 << 15, help="nodes per thread and round")
    parser.add_argument("--seconds", type=float, default=540)
    return parser.parse_args()


def link_levels(board, openings):
    """The levels, linked to their children, with immediate wins marked."""
    levels = []
    for ply, (_, own, occupied) in enumerate(openings):
        wins = (winning_cells(board, own) & playable_cells(board, occupied)) != 0
        children = np.full((len(own), board.cols), NO_CHILD, np.int32)
        if ply + 1 < len(openings):
            children = find_children(board, own, occupied, openings[ply + 1].keys)
        low, high = np.where(wins, 1, -1).astype(np.int8), np.ones(len(own), np.int8)
        wanted = np.zeros((len(own), 2), np.bool_)
        levels.append(Level(own, occupied, children, low, high, wanted))
    return levels


def find_children(board, own, occupied, keys):
    """Rows of the next level for each column, [n, cols], the most promising first."""
    children, ranks = [], []
    for column in range(board.cols):
        moves = play_column(board, own, occupied, column)
        images = choose_images(board, moves.own, moves.occupied)
        rows = np.searchsorted(keys, position_keys(board, *images))
        children.append(np.where(moves.is_legal & ~moves.wins, rows, NO_CHILD))
        threats = winning_cells(board, moves.own ^ moves.occupied) & ~occupied
        ranks.append(abs(2 * column + 1 - board.cols) - 100.0 * np.bitwise_count(threats))
    order = np.argsort(np.stack(ranks, 1), axis=1, kind="stable")
    return np.take_along_axis(np.stack(children, 1), order, 1).astype(np.int32)


def settle_levels(levels):
    for ply in reversed(range(len(levels) - 1)):
        level, following = levels[ply], levels[ply + 1]
        settle_level(level.children, level.low, level.high, following.low, following.high)


@njit
def settle_level(children, low, high, child_low, child_high):
    """Narrows the bounds of positions by those of their children."""
    for row in range(len(low)):
        if low[row] == high[row]:
            continue
        best_low, best_high = -1, -1
        for child in children[row]:
            if child != NO_CHILD:
                best_low = max(best_low, -child_high[child])
                best_high = max(best_high, -child_low[child])
        low[row] = max(low[row], best_low)
        high[row] = min(high[row], best_high)


def choose_questions(levels, plies, team):
    """New questions that matter, the most urgent first; enough to keep all threads busy."""
    is_new = np.ones(levels[-1].wanted.size, np.bool_)
    is_new[team.current[team.current != IDLE]] = False
    chosen = []
    for first, width in itertools.product(range(min(5, plies), plies + 1), (1, 2, MOST_COLUMNS)):
        mark_wanted(levels, first, width)
        questions = np.flatnonzero(levels[-1].wanted.reshape(-1) & is_new)
        is_new[questions] = False
        chosen.append(questions)
        if sum(map(len, chosen)) >= 8 * team.num_threads:
            break
    mark_wanted(levels, plies, MOST_COLUMNS)
    team.give_up(~levels[-1].wanted.reshape(-1))
    return np.concatenate(chosen)


def mark_wanted(levels, plies, width):
    """Marks the questions to ask for ply `plies`, assuming that one of `width` moves suffices."""
    for level in levels:
        level.wanted[:] = False
    first = levels[plies]
    is_open = first.low < first.high
    first.wanted[is_open, first.high[is_open]] = True
    for ply in range(plies, len(levels) - 1):
        level, following = levels[ply], levels[ply + 1]
        # The first player needs one sufficient move, against all replies of the second.
        most = width if (ply - plies) % 2 == 0 else MOST_COLUMNS
        known = following.low, following.high
        mark_level(level.children, level.wanted, following.wanted, *known, most)


@njit
def mark_level(children, wanted, child_wanted, child_low, child_high, most):
    """Marks open questions about children that help answer the wanted ones, at most `most` each."""
    for row in range(len(wanted)):
        for threshold in range(2):
            asked, count = 1 - threshold, 0
            if wanted[row, threshold]:
                for child in children[row]:
                    if (
                        child != NO_CHILD
                        and count < most
                        and child_low[child] < asked <= child_high[child]
                    ):
                        child_wanted[child, asked] = True
                        count += 1


class Team:
    """The GPU's threads, each with its question, its stack and its cursor."""

    def __init__(self, board, leaves, num_threads):
        self.board, self.leaves, self.num_threads = board, leaves, num_threads
        self.current = np.full(num_threads, IDLE, np.int64)
        self.nodes = 0
        depth = board.cells - int(np.bitwise_count(leaves.occupied[0])) + 2
        self._stones = cuda.to_device(leaves.own), cuda.to_device(leaves.occupied)
        self._frames = cuda.device_array((num_threads, depth), FRAME)
        self._table = cuda.device_array(1 << board.slot_bits, np.uint64)
        clear[1024, 256](self._table)
        self._cursors = cuda.to_device(np.zeros(num_threads, kernels.CURSOR))
        self._answers = cuda.to_device(np.full(2 * len(leaves.own), kernels.OPEN, np.int8))

    @property
    def num_busy(self):
        return int((self.current != IDLE).sum())

    def give_up(self, is_answered):
        """Cancels these questions in all threads."""
        busy = self.current != IDLE
        self.current[busy & is_answered[self.current]] = IDLE

    def work(self, queue, nodes):
        """Answers questions until each thread has visited `nodes` positions."""
        current = cuda.to_device(self.current)
        counter = cuda.to_device(np.zeros(1, np.int64))
        queue = cuda.to_device(np.append(queue, IDLE).astype(np.int64))
        work_on_questions[self.num_threads // THREADS_PER_BLOCK, THREADS_PER_BLOCK](
            self.board,
            self._frames,
            self._table,
            self._cursors,
            *self._stones,
            queue,
            counter,
            current,
            self._answers,
            nodes // SLICE,
        )
        self.current = current.copy_to_host()
        self._learn(self._answers.copy_to_host().reshape(-1, 2))
        self.nodes = int(self._cursors.copy_to_host()["nodes"].sum())

    def _learn(self, answers):
        low, high = self.leaves.low, self.leaves.high
        for threshold in (0, 1):
            is_yes = answers[:, threshold] == kernels.YES
            is_no = answers[:, threshold] == kernels.NO
            low[is_yes] = np.maximum(low[is_yes], threshold)
            high[is_no] = np.minimum(high[is_no], threshold - 1)


@cuda.jit
def clear(table):
    for slot in range(cuda.grid(1), len(table), cuda.gridsize(1)):
        table[slot] = 0


@cuda.jit
def work_on_questions(
    board, frames, table, cursors, own, occupied, queue, counter, current, answers, slices
):
    """Each thread resumes its question, then takes the next one from the queue."""
    thread = cuda.grid(1)
    work = kernels.Work(frames[thread], table, cursors[thread : thread + 1])
    cursor = cursors[thread]
    question = current[thread]
    for _ in range(slices):
        if question == IDLE:
            place = cuda.atomic.add(counter, 0, 1)
            if place >= len(queue) - 1:
                break
            question = queue[place]
            cursor.ply = -1
            row = question >> 1
            kernels.ask(work, own[row], occupied[row], question & 1)
        if kernels.search(board, work, cursor.nodes + SLICE):
            answers[question] = cursor.answer
            question = IDLE
    current[thread] = question


def read_progress(leaves, path):
    with np.load(path) as progress:
        leaves.low[:], leaves.high[:] = progress["low"], progress["high"]


def write_progress(leaves, path):
    with path.open("wb") as file:
        np.savez_compressed(file, low=leaves.low, high=leaves.high)


def write_book(levels, path):
    """Writes the outcomes of all plies before the first that is not fully known."""
    outcomes = {}
    for ply, level in enumerate(levels):
        if (level.low < level.high).any():
            break
        outcomes[f"ply_{ply}"] = level.low
    with path.open("wb") as file:
        np.savez_compressed(file, **outcomes)
    print(f"the book has {len(outcomes) - 1} plies, {path.stat().st_size:,} bytes")


def describe(levels, team):
    shares = [f"{np.mean(level.low == level.high):.2%}" for level in levels[5:]]
    return (
        f"known, from ply 5: {' '.join(shares)}; {team.num_busy:,} threads busy, "
        f"{team.nodes / 1e9:.1f} G nodes"
    )


if __name__ == "__main__":
    main()
