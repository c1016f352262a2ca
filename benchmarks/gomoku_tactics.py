"""Forced wins in Gomoku: python benchmarks/gomoku_tactics.py FOLDER [--json]

The folder contains vcf_freestyle15.csv: freestyle positions on 15x15 in which the side to move wins
by fours alone, with the fewest fours needed and all first moves of such a win. A search solves a
position if it chooses one of those moves. Other moves, which may win by threes, count as wrong.
Searches, each with and without proven values:
  threats  prior and value from threes and fours
  uniform  equal priors and the value 0
  rollout  UCT with random playouts
Exits with 1 if threats with proven values solves less than 90 %. Intervals are 95 % (Wilson's).
"""

import argparse
import csv
import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from plainzero import SearchConfig, make_game
from plainzero.arena.elo import wilson_interval
from plainzero.cli.terminal.match_arguments import waiting
from plainzero.games.position_setup import set_up_position
from plainzero.opponents.gomoku_evaluator import ThreatsEvaluator, make_config
from plainzero.opponents.search_agent import side_by_side
from plainzero.search.api import Searcher

GAME = make_game("gomoku")
ASKED_FOR = 0.9
BUCKETS = ((1, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 12))  # number of fours needed
COLUMNS = ("threats+proven", "threats", "uniform+proven", "uniform", "rollout+proven", "rollout")


class Problem(NamedTuple):
    """A won position and its solutions."""

    name: str
    state: Any
    depth: int
    solutions: set[int]


class Answer(NamedTuple):
    """A search's answer to a problem."""

    problem: str
    depth: int
    move: str
    is_right: bool
    is_proven: bool
    value: float  # of the move, for the side to move
    simulations: int


def main():
    options = read_options()
    problems = read_problems(Path(options.folder) / "vcf_freestyle15.csv")
    answers, seconds = {}, {}
    for column in options.only or COLUMNS:
        start = time.process_time()
        answers[column] = solve(column, problems, options)
        seconds[column] = time.process_time() - start
    if options.json:
        found = {column: [a._asdict() for a in given] for column, given in answers.items()}
        print(json.dumps({"simulations": options.simulations, "answers": found}, indent=1))
    else:
        show(answers, seconds, options.simulations)
    first = answers.get(COLUMNS[0])
    sys.exit(first is not None and sum(a.is_right for a in first) < ASKED_FOR * len(first))


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--only", nargs="*", choices=COLUMNS, help="searches (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gigabytes", type=float, default=2.0, help="memory for parallel trees")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def read_problems(path):
    with path.open(newline="") as file:
        return [read_problem(row) for row in csv.DictReader(file)]


def read_problem(row):
    cells = [["."] * GAME.size for _ in range(GAME.size)]
    for stone, points in (("x", row["black"]), ("o", row["white"])):
        for point in map(GAME.parse_action, points.split()):
            cells[point // GAME.size][point % GAME.size] = stone
    solutions = {GAME.parse_action(name) for name in row["vcf_first_moves"].split()}
    state = set_up_position(GAME, cells, "BW".index(row["to_move"]))
    return Problem(row["id"], state, int(row["vcf_depth"]), solutions)


def solve(column, problems, options):
    """The answers of one kind of search; positions are searched in batches that fit in memory."""
    searcher = make_searcher(column, options)
    step, answers = side_by_side(searcher), []
    with waiting(column) as wait:
        for first in range(0, len(problems), step):
            batch = problems[first : first + step]
            results = searcher.search([problem.state for problem in batch], options.seed + first)
            answers += map(judge, batch, results)
            wait.update("", len(answers), len(problems))
            if wait.is_enough():
                sys.exit("stopped")
    return answers


def make_searcher(column, options):
    kind, _, proven = column.partition("+")
    if kind == "threats":
        evaluator, config = ThreatsEvaluator(GAME), make_config(options.simulations)
    else:
        evaluator, config = kind, SearchConfig(simulations=options.simulations)
    max_bytes = int(options.gigabytes * 2**30)
    config = dataclasses.replace(config, proven_values=bool(proven), max_bytes=max_bytes)
    return Searcher(GAME, evaluator, config)


def judge(problem, result):
    action = int(result.action)
    return Answer(
        problem.name,
        problem.depth,
        GAME.action_name(action),
        action in problem.solutions,
        result.proven,
        float(result.q[action]),
        result.simulations,
    )


def show(answers, seconds, simulations):
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 180)
    title = f"forced wins solved within {simulations:,} simulations"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=title)
    table.add_column("fours")
    for column in answers:
        table.add_column(column, justify="right")
    for low, high in BUCKETS:
        name = f"{low}" if low == high else f"{low}-{high}"
        table.add_row(name, *(share(given, low, high) for given in answers.values()))
    table.add_section()
    for name, every, begin in (("all", 1, 0), ("odd lines", 2, 0), ("even lines", 2, 1)):
        table.add_row(name, *(share(given[begin::every]) for given in answers.values()))
    proven = (f"{sum(a.is_proven for a in given)}" for given in answers.values())
    table.add_row("proven", *proven)
    spent = (sum(a.simulations for a in given) / len(given) for given in answers.values())
    table.add_row("simulations", *(f"{count:,.0f}" for count in spent))
    table.add_row("processor seconds", *(f"{value:.0f}" for value in seconds.values()))
    console.print(table)


def share(answers, low=0, high=99):
    """Solved and total positions, and the share with its interval."""
    right = [answer.is_right for answer in answers if low <= answer.depth <= high]
    if not right:
        return "-"
    part = sum(right) / len(right)
    below, above = wilson_interval(part, len(right))
    return f"{sum(right)}/{len(right)} {100 * part:.0f} % ({100 * below:.0f}-{100 * above:.0f})"


if __name__ == "__main__":
    main()
