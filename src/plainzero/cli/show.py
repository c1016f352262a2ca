"""`plainzero show`: a saved game in the terminal, position by position."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero import Game
    from plainzero.games.formats.saved_games import SavedGame


def show(
    file: Annotated[
        Path, typer.Argument(help="JSON, SGF, a move list, or the .jsonl file of a match.")
    ],
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            help="Game, if the file does not name it; required for your own games.",
        ),
    ] = None,
    number: Annotated[
        int, typer.Option(min=1, help="Number of the game in a file with several.")
    ] = 1,
    move: Annotated[
        int | None, typer.Option(min=0, help="Show only the position after this many moves.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Convert the game: .json, .sgf, or .txt for a move list."
        ),
    ] = None,
) -> None:
    """Step through a saved game; with --move, print one position.

    Keys: space or → forward, b or ← back, Home and End (or 0 and $), q to quit. If the output is
    not a terminal, every position is printed.

    Example: [bold]plainzero show game.sgf[/]

    A game of a match: [bold]plainzero show games.jsonl --number 7[/]

    As SGF: [bold]plainzero show games.jsonl --number 7 --save game.sgf[/]
    """
    from plainzero.cli.terminal.step_through import Stepper

    with refusing(game or ""):
        played, saved = _load(file, game, number)
        if save is not None:
            _save(played, saved, save)
        stepper = Stepper(played, saved)
        if move is not None:
            stepper.print_position(move)
        elif save is None:
            stepper.step_through()


def _load(file: Path, name: str | None, number: int) -> "tuple[Game, SavedGame]":
    """The requested saved game, and the game whose rules it follows."""
    from plainzero import make_game
    from plainzero.arena.match_files import read_match_games
    from plainzero.games.formats.saved_games import decode_saved, read_all_saved
    from plainzero.games.registry import GameSpec

    def make_known(title: str) -> "Game":
        if GameSpec.parse(title).path and title != name:
            raise BadInput(
                f"{file} is a game of {title}, which is Python code in a file; if you trust it, "
                f'add --game "{title}"'
            )
        return make_game(title)

    try:
        text = decode_saved(file.read_bytes())
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error
    if file.suffix == ".jsonl":
        games = read_match_games(text)
    else:
        games = read_all_saved(text, make_known, name)
    count = 0
    for count, saved in enumerate(games, 1):
        if count == number:
            return make_known(saved.game), saved
    raise BadInput(f"{file} holds {count} games; there is no game {number}")


def _save(game: "Game", saved: "SavedGame", file: Path) -> None:
    from plainzero.games.formats.saved_games import to_json, to_moves, to_sgf

    writers = {".json": to_json, ".sgf": to_sgf, ".txt": to_moves}
    if file.suffix not in writers:
        raise BadInput(f"{file} ends in {file.suffix!r}; it must be .json, .sgf or .txt")
    content = writers[file.suffix](game, saved)
    try:
        file.write_text(content, "utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {file}: {error.strerror}") from error
