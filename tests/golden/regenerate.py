"""Writes one random game of each bundled game as text: `python tests/golden/regenerate.py`.

The files are compared by `tests/games/bundled/test_golden.py`. After a change of a game's rules or
of its text, run this and read the difference: it is what users will see.
"""

from pathlib import Path

import numpy as np

from plainzero.games import make_game
from plainzero.games.contract import CHANCE, Game

FOLDER = Path(__file__).parent
GAMES = {
    "tic_tac_toe": "tic-tac-toe",
    "connect_four": "connect-four",
    "dots_and_boxes": "dots-and-boxes",
    "trio": "trio",
    "twenty_forty_eight": "2048(size=3,target=64)",
    "pig": "pig(target=20)",
    "ultimate_tic_tac_toe": "ultimate-tic-tac-toe",
    "breakthrough": "breakthrough(rows=5,cols=4)",
    "gomoku": "gomoku(size=6)",
    "gomoku_42": "gomoku-42(size=7)",
    "othello": "othello(size=6)",
    "hex": "hex(size=4,swap=True)",
    "orbit": "orbit",
    "sensor_jammer": "sensor-jammer",
    "go": "go(size=5)",
}


def playthrough(name: str, seed: int = 7) -> str:
    """One random game: every position, what is legal there, what a network sees, what is played."""
    game = make_game(name)
    rng = np.random.default_rng(seed)
    state = game.new_state()
    lines = [
        f"game: {game.name}",
        f"players {game.num_players}, actions {game.num_actions}, "
        f"observation {game.observation_shape}, at most {game.max_turns} plays",
    ]
    while not state.is_over:
        lines += ["", *_position(game, state)]
        if state.to_play == CHANCE:
            chances = game.chances(state)
            weights = [probability for _, probability in chances]
            action = chances[rng.choice(len(chances), p=weights)][0]
            lines.append(f"chance: {game.outcome_name(action)}")
        else:
            action = int(rng.choice(game.legal(state)))
            lines.append(f"player {state.to_play}: {game.action_name(action)}")
        game.apply(state, action)
    return "\n".join([*lines, "", *_position(game, state), f"returns: {state.returns}", ""])


def _position(game: Game, state: np.void) -> list[str]:
    lines = [
        f"# turn {state.turn}",
        *(f"  {line}".rstrip() for line in game.text(state).split("\n")),
    ]
    if state.to_play == CHANCE or state.is_over:
        return lines
    legal = " ".join(game.action_name(action) for action in game.legal(state))
    if len(game.observation_shape) == 1:
        numbers = " ".join(f"{number:.3g}" for number in game.observation(state))
        return [*lines, f"legal: {legal}", f"numbers: {numbers}"]
    planes = [
        " ".join("".join("1" if cell else "." for cell in row) for row in plane)
        for plane in game.observation(state)
    ]
    seen = [f"plane {number}: {plane}" for number, plane in enumerate(planes) if "1" in plane]
    return [*lines, f"legal: {legal}", *seen]


if __name__ == "__main__":
    for file, name in GAMES.items():
        (FOLDER / f"{file}.txt").write_text(playthrough(name))
