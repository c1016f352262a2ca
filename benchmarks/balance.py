"""Tests the balance of a two-player game: python benchmarks/balance.py GAME [--json]

Games start from random openings, not only from even ones. Kinds of games:
  equal     agents of equal strength: no seat wins more than 65 %, draws are under 40 %
  random    a short search scores at least 95 % against random moves, from either seat
  constant  the short search beats an agent that always plays the same action, or a random legal
            one if that is illegal, from either seat
  scripted  the same for your own strategies, given as FILE.py:function; the function takes the
            game and a state and returns a legal action
Exits with 1 if one of these fails. Intervals are 95 %, with openings as units.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.elo import estimate_elo
from plainzero.arena.match import MatchSettings, play_match
from plainzero.arena.openings import Opening, draw_chance
from plainzero.cli.terminal.match_arguments import waiting
from plainzero.games.contract import CHANCE
from plainzero.opponents.search_agent import child_seed

MOST_FOR_A_SEAT = 0.65
MOST_DRAWS = 0.40
LEAST_AGAINST_RANDOM = 0.95


class Line(NamedTuple):
    """The results of one kind of games, from one seat's point of view."""

    kind: str
    player: str
    seat: int
    opponent: str
    wins: int
    draws: int
    losses: int
    score: float  # wins and half the draws, as a share
    low: float
    high: float
    plies: float  # per game, on average, without the opening
    holds: bool  # whether the requirement for this kind is met


class Scripted:
    """Plays by a function of the game and the state."""

    def __init__(self, name, game, function):
        self.name, self.game, self.function = name, game, function

    def choose(self, states, seed):
        return [self.function(self.game, state) for state in states]


class Constant:
    """Always plays one action, or a random legal one if that is illegal."""

    def __init__(self, game, action):
        self.name, self.game, self.action = f"always {game.action_name(action)}", game, action

    def choose(self, states, seed):
        generator = np.random.default_rng(seed)
        legal = [self.game.legal(state) for state in states]
        return [
            self.action if self.action in moves else int(generator.choice(moves)) for moves in legal
        ]


def main():
    options = read_options()
    game = make_game(options.game)
    if game.num_players != 2:
        sys.exit(f"{game.name} has {game.num_players} players; balance needs two")
    lines = []
    for number, (kind, first, second, games) in enumerate(list_pairs(game, options)):
        seed = child_seed(options.seed, number)
        openings = tuple(draw_openings(game, -(-games // 2), options.plies, seed))
        settings = MatchSettings(games, seed=seed, openings=openings)
        with waiting(f"{first.name} - {second.name}") as wait:
            result = play_match(
                game,
                (first, second),
                settings,
                progress=lambda done, total, wait=wait: wait.update("", done, total),
                stop=wait.is_enough,
            )
            if result.was_interrupted:
                sys.exit("stopped")
        lines += describe_equal(result) if kind == "equal" else describe(kind, result)
    if options.json:
        print(json.dumps([line._asdict() for line in lines], indent=1))
    else:
        show(game, lines)
    sys.exit(not all(line.holds for line in lines))


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game")
    parser.add_argument(
        "--equal", nargs="*", default=["uct:2000"], help="agents to play against themselves"
    )
    parser.add_argument("--judge", default="uct:400", help="agent for the other kinds")
    parser.add_argument("--games", type=int, default=200, help="games per pair of equal agents")
    parser.add_argument("--judge-games", type=int, default=100, help="games per other pair")
    parser.add_argument("--plies", type=int, default=2, help="random plies before each game")
    parser.add_argument("--scripts", nargs="*", default=[], help="FILE.py:function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="kinds of games to play (default: all)")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def list_pairs(game, options):
    """The pairs to play: kind, two agents, and the number of games, half from either seat."""
    pairs = [
        ("equal", parse_agent(spec, game), parse_agent(spec, game), options.games)
        for spec in options.equal
    ]
    judge = parse_agent(options.judge, game)
    pairs.append(("random", judge, parse_agent("random", game), options.judge_games))
    weak = [("constant", Constant(game, action)) for action in range(game.num_actions)]
    weak += [("scripted", read_script(spec, game)) for spec in options.scripts]
    pairs += [(kind, player, judge, options.judge_games) for kind, player in weak]
    return [pair for pair in pairs if not options.only or pair[0] in options.only]


def read_script(spec, game):
    path, _, name = spec.rpartition(":")
    module_spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return Scripted(name, game, getattr(module, name))


def draw_openings(game, count, plies, seed):
    """Unfiltered random openings, unlike those of `plainzero match`, which are even."""
    generator = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        state, actions, left = game.new_state(), [], plies
        while not state.is_over and (left > 0 or state.to_play == CHANCE):
            if state.to_play == CHANCE:
                actions.append(draw_chance(game, state, generator))
            else:
                actions.append(int(generator.choice(game.legal(state))))
                left -= 1
            game.apply(state, actions[-1])
        if not state.is_over:
            found.append(Opening(tuple(actions), state))
    return found


def describe_equal(result):
    """One line: the first seat against the second, for both agents."""
    rounds = [[score_of(record.returns[0]) for record in records] for records in result.rounds]
    line = summarise("equal", result, 0, rounds, result.records)
    games = len(result.records)
    is_even = max(line.wins, line.losses) <= MOST_FOR_A_SEAT * games
    return [line._replace(holds=is_even and line.draws < MOST_DRAWS * games)]


def describe(kind, result):
    """One line per seat of the first agent."""
    lines = []
    for seat in (0, 1):
        records = [record for record in result.records if record.seats[seat] == 0]
        line = summarise(kind, result, seat, [[record.score] for record in records], records)
        holds = line.score >= LEAST_AGAINST_RANDOM if kind == "random" else line.losses > 0
        lines.append(line._replace(holds=holds))
    return lines


def summarise(kind, result, seat, rounds, records):
    scores = [score for scores in rounds for score in scores]
    estimate = estimate_elo(rounds)
    return Line(
        kind,
        result.names[0],
        seat,
        result.names[1],
        scores.count(1.0),
        scores.count(0.5),
        scores.count(0.0),
        estimate.score,
        estimate.score_low,
        estimate.score_high,
        float(np.mean([len(record.moves) for record in records])),
        holds=False,
    )


def score_of(value):
    return 1.0 if value > 0 else 0.5 if value == 0 else 0.0


def show(game, lines):
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=f"{game.name}, by seat")
    for column in ("kind", "player", "seat", "against"):
        table.add_column(column)
    for column in ("won", "drawn", "lost", "score", "95 %", "plies", ""):
        table.add_column(column, justify="right")
    for line in lines:
        table.add_row(
            line.kind,
            line.player,
            "first" if line.seat == 0 else "second",
            line.opponent,
            *map(str, (line.wins, line.draws, line.losses)),
            f"{100 * line.score:.1f} %",
            f"{100 * line.low:.1f}–{100 * line.high:.1f}"
            if (line.low, line.high) != (0, 1)
            else "",
            f"{line.plies:.0f}",
            "ok" if line.holds else "NO",
        )
    console.print(table)


if __name__ == "__main__":
    main()
