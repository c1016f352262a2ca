"""The yardstick of each game."""

import shutil

from plainzero.arena.yardsticks.kept_outcomes import KeptOutcomes
from plainzero.arena.yardsticks.largest_tile import LargestTile
from plainzero.arena.yardsticks.match_score import MatchScore
from plainzero.arena.yardsticks.measurement import Yardstick
from plainzero.arena.yardsticks.named_winner import NamedWinner
from plainzero.arena.yardsticks.win_chance import WinChance
from plainzero.games.contract import Game

_GNU_GO = "gtp:gnugo --mode gtp --level 10 --chinese-rules"

_YARDSTICKS: dict[str, Yardstick] = {
    "tic-tac-toe": MatchScore("perfect", target=1.0, counts_draws=True),
    "connect-four": KeptOutcomes(target=0.995),
    "dots-and-boxes": KeptOutcomes(target=0.97),
    "dots-and-boxes(rows=3,cols=3)": KeptOutcomes(target=0.97),
    "gomoku": MatchScore("threats:400", target=0.8),
    "gomoku-42": MatchScore("uct:5000", target=0.95),
    "go": MatchScore("uct:5000"),  # without GNU Go
    "othello": MatchScore("uct:20000", target=0.9),
    "hex": MatchScore("uct:20000", target=0.95),
    "hex(size=6)": NamedWinner(target=0.95),
    "breakthrough": MatchScore("uct:20000", target=0.85),
    "ultimate-tic-tac-toe": MatchScore("uct:20000", target=0.85),
    "orbit": MatchScore("uct:10000", target=0.6),
    "trio": MatchScore("uct:10000", target=0.6),
    "pig": WinChance(target=0.99),
    "sensor-jammer": WinChance(target=0.99),
    "2048": LargestTile(target=0.95),
}
_USUAL = MatchScore("uct:1000", target=0.8)  # for other parameters, and other people's games


def yardstick_of(game: Game) -> Yardstick:
    """The yardstick of a game with its parameters."""
    if game.name == "go" and shutil.which("gnugo"):
        return MatchScore(_GNU_GO, target=0.95)
    return _YARDSTICKS.get(game.name, _USUAL)
