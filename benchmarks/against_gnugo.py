"""Games of Go against GNU Go, with scores compared: python benchmarks/against_gnugo.py

Plays an agent against GNU Go in a match, each opening from both sides, and asks GNU Go for the
score of every finished game. Exits with 1 if a game was lost by a fault or a score differs. GNU Go
captures dead stones before it passes, because our scoring treats all stones as alive.
"""

import argparse
import json
import sys
from typing import Any

from plainzero import Game, make_game
from plainzero.arena.match import MatchResult, MatchSettings, play_match
from plainzero.arena.match_files import save_transcripts
from plainzero.arena.match_games import FinishedGame
from plainzero.cli.terminal.match_arguments import playing, waiting
from plainzero.opponents.agent import GameHistory
from plainzero.protocols.gtp.engine import GtpEngine

COMMAND = (
    "gnugo --mode gtp --level {level} --chinese-rules --positional-superko "
    "--capture-all-dead --play-out-aftermath"
)


def main() -> int:
    options = parse_options()
    game = make_game(options.game)
    command = COMMAND.format(level=options.level)
    with playing([options.agent, f"gtp:{command}"], game) as (agent, gnugo), waiting("games") as w:
        result = play_match(
            game,
            (agent, gnugo),
            MatchSettings(options.games, seed=options.seed),
            lambda done, total: w.update("games", done, total),
            w.is_enough,
        )
    found = {**result.as_dict(), **compare_scores(game, result, command)}
    found["engine_output"] = str(save_transcripts([result]) or "")
    print(json.dumps(found, indent=2))
    return int(bool(found["differences"]) or any(found["lost_by_fault"]))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="go(size=9,komi=7.5)")
    parser.add_argument("--agent", default="uct:1000")
    parser.add_argument("--level", type=int, default=1)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def compare_scores(game: Game, result: MatchResult, command: str) -> dict[str, Any]:
    """The number of games scored by both, and the games whose scores differ."""
    engine, compared, differences = GtpEngine(game, command), 0, []
    for record in result.records:
        played = replay(game, record)
        if not played.state.is_over:  # resigned, or lost by a fault
            continue
        engine.follow(played)
        theirs, lead = engine.ask("final_score"), game.area_lead(played.state)
        ours = f"{'B' if lead > 0 else 'W'}+{abs(lead):.1f}"
        compared += 1
        if theirs != ours:
            names = " ".join(game.action_name(move) for move in played.moves)
            differences.append({"ours": ours, "gnugo": theirs, "moves": names})
    engine.close()
    return {"scores_compared": compared, "differences": differences}


def replay(game: Game, record: FinishedGame) -> GameHistory:
    state, movers = game.new_state(), []
    moves = [*record.opening, *record.moves]
    for action in moves:
        movers.append(int(state.to_play))
        game.apply(state, action)
    return GameHistory(0, moves, movers, state)


if __name__ == "__main__":
    sys.exit(main())
