"""Ladders in files: JSON with the games of every pair, and with the ratings for other programs.

The ratings are computed again when a file is read. The bundled ladders are in the folder `ladders`.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

from plainzero.arena.ladder import Ladder, Pair
from plainzero.arena.ladder_agents import label_of
from plainzero.atomic_files import write_whole
from plainzero.games.contract import Game
from plainzero.games.registry import UnknownGame, make_game

BUNDLED = Path(__file__).parent / "ladders"
"""The folder of the bundled ladders, each named after its game."""

_FORMAT = "plainzero-ladder-1"


def bundled_ladder(game: Game) -> Ladder | None:
    """The bundled ladder of the game with these parameters, if any."""
    path = BUNDLED / f"{game.title()}.json"
    if not path.is_file():
        return None
    ladder = read_ladder(path)
    try:
        is_same = bool(make_game(ladder.game) == game)
    except UnknownGame:
        return None
    return ladder if is_same else None


def ladder_file_name(game: Game) -> str:
    """The usual name of a game's ladder: gomoku.json, or connect-four(rows=7,cols=8).json."""
    return "".join(c if c.isalnum() or c in "-(),=." else "_" for c in game.name) + ".json"


def write_ladder(ladder: Ladder, path: Path) -> None:
    """Writes the ladder, and its folder if needed.

    Raises:
        ValueError: when the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, (_one_line_per_row(as_dict(ladder)) + "\n").encode())
    except OSError as error:
        raise ValueError(f"cannot save the ladder to {path}: {error.strerror}") from error


def read_ladder(path: Path) -> Ladder:
    """The ladder in a file.

    Raises:
        ValueError: when the file cannot be read, or is not a ladder.
    """
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise ValueError(f"cannot read the ladder {path}: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path} is not a ladder: {error}") from error
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise ValueError(f"{path} is not a ladder of this version ({_FORMAT})")
    try:
        return _from_dict(found)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is a damaged ladder: {error!r}") from error


def as_dict(ladder: Ladder) -> dict[str, Any]:
    """The ladder as JSON-compatible values, strongest agent first."""
    has_ratings = len(ladder.rated) > 1
    return {
        "format": _FORMAT,
        "game": ladder.game,
        "anchor": ladder.anchor,
        "ratings": [
            {"agent": rung.agent, "label": label_of(rung.agent)}
            | {"elo": round(rung.elo, 1), "error": round(rung.error, 1)}
            | {"games": rung.games, "score": round(rung.score, 4)}
            for rung in (ladder.rungs if has_ratings else ())
        ],
        "unrated": ladder.unrated,
        "draw_rate_of_equals": ladder.ratings.draw_rate if has_ratings else None,
        "dispersion": ladder.dispersion if has_ratings else None,
        "misfit": ladder.misfit if has_ratings else None,
        "seconds": round(ladder.seconds, 1),
        "made": ladder.made,
        "seed": ladder.seed,
        "agents": [{"agent": name, "identity": now} for name, now in ladder.agents.items()],
        "pairs": [dataclasses.asdict(pair) for pair in ladder.pairs],
        "openings": [list(opening) for opening in ladder.openings],
    }


def _from_dict(found: dict[str, Any]) -> Ladder:
    return Ladder(
        game=str(found["game"]),
        anchor=str(found["anchor"]),
        seed=int(found["seed"]),
        openings=tuple(tuple(map(int, opening)) for opening in found["openings"]),
        agents={str(row["agent"]): str(row["identity"]) for row in found["agents"]},
        pairs=tuple(Pair(**pair) for pair in found["pairs"]),
        seconds=float(found["seconds"]),
        made=dict(found["made"]),
    )


def _one_line_per_row(found: dict[str, Any]) -> str:
    """JSON in which each agent, pair and opening has one line, so that changes are easy to read."""
    parts = []
    for name, value in found.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list) and value and isinstance(value[0], dict | list):
            rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in value)
            text = f"[\n{rows}\n  ]"
        parts.append(f"  {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}"
