"""Othello endgames solved by alpha-beta: python benchmarks/othello_endgames.py FILE [EMPTIES]

Each line of the file is a position and its moves with their scores, best first, as in the FFO sets:
64 squares (X, O, -), the side to move, and MOVE:SCORE separated by semicolons. Positions with more
than EMPTIES (default 16) empty squares are skipped. Seconds are processor time of one core, without
compiling. Prints a table; exits with 1 if any best score or best move is wrong.
"""

import re
import sys
import time
from pathlib import Path

from plainzero import make_game
from plainzero.games.position_setup import set_up_position
from plainzero.opponents.alpha_beta import AlphaBeta, best_actions

GAME = make_game("othello(result=discs)")
SQUARES = 64
TABLE_BYTES = 1 << 28


def read_problem(line):
    """The position, its number of empty squares, and the scores of its moves."""
    squares = line[:SQUARES].replace("-", ".").lower()
    cells = [list(squares[start : start + 8]) for start in range(0, SQUARES, 8)]
    state = set_up_position(GAME, cells, "XO".index(line[SQUARES + 1]))
    scores = re.findall(r"([A-Ha-h][1-8]):([+-]?\d+)", line)
    return state, squares.count("."), {move.lower(): int(score) for move, score in scores}


def solve(state, empties):
    """Alpha-beta's analysis, starting from an empty table, and its processor seconds."""
    solver = AlphaBeta(GAME, depth=2 * empties, table_bytes=TABLE_BYTES)
    start = time.process_time()
    return solver.solve(state), time.process_time() - start


def main(file, most_empties=16):
    solve(GAME.new_state(), 1)  # compiles
    print("| problem | empty | score | expected | best moves | correct scores | nodes | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    first = int(next(iter(re.findall(r"(\d+)-\d+", Path(file).name)), 1))
    is_right, total = True, 0.0
    for number, line in enumerate(Path(file).read_text().splitlines(), first):
        state, empties, expected = read_problem(line)
        if empties > int(most_empties):
            continue
        analysis, seconds = solve(state, empties)
        found = {
            GAME.action_name(action): round(analysis.values[action] * SQUARES)
            for action in GAME.legal(state)
        }
        best = [GAME.action_name(action) for action in best_actions(analysis.values)]
        score, wanted = max(found.values()), max(expected.values())
        is_right &= score == wanted and {*best} >= {m for m, s in expected.items() if s == wanted}
        right = sum(found.get(move) == value for move, value in expected.items())
        print(
            f"| {number} | {empties} | {score:+d} | {wanted:+d} | {' '.join(best)} | "
            f"{right} of {len(expected)} | {analysis.nodes:,} | {seconds:.2f} |",
            flush=True,
        )
        total += seconds
    print(f"\n{'all correct' if is_right else 'NOT all correct'}, {total:.1f} s")
    return 0 if is_right else 1


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
