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
        Path, typer.Argument(help="JSON, SGF, a list of moves, or the .jsonl of a match.")
    ],
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            help="What is played, where the file does not name it; also for a game of your own.",
        ),
    ] = None,
    number: Annotated[
        int, typer.Option(min=1, help="Which game of a file that holds several.")
    ] = 1,
    move: Annotated[
        int | None, typer.Option(min=0, help="Only the position after so many moves.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the game anew: .json, .sgf, or .txt for moves."),
    ] = None,
) -> None:
    """Step through a saved game; with --move, print one position.

    Keys: space or → forward, b or ← back, Home and End (or 0 and $), q to stop. Where the output
    is no terminal, every position is printed.

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
    """The game that was asked for, and the rules it was played by."""
    from plainzero import make_game
    from plainzero.arena.saved_matches import read_match_games
    from plainzero.games.formats.saved_games import decode_saved, read_all_saved
    from plainzero.games.registry import is_open_spiel

    def make_known(title: str) -> "Game":
        if ":" in title and not is_open_spiel(title) and title != name:
            raise BadInput(
                f"{file} is a game of {title}, a file with code of its own; if you trust that "
                f'code, name it: --game "{title}"'
            )
        return make_game(title)

    try:
        text = decode_saved(file.read_bytes())
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}") from error
    if file.suffix == ".jsonl":
        games = read_match_games(text)
    else:
        games = read_all_saved(text, make_known, name)
    count = 0
    for count, saved in enumerate(games, 1):
        if count == number:
            return make_known(saved.game), saved
    raise BadInput(f"{file} holds {count} games, so there is no game {number}")


def _save(game: "Game", saved: "SavedGame", file: Path) -> None:
    from plainzero.games.formats.saved_games import to_json, to_moves, to_sgf

    writers = {".json": to_json, ".sgf": to_sgf, ".txt": to_moves}
    if file.suffix not in writers:
        raise BadInput(f"{file} ends in {file.suffix!r}; it must be .json, .sgf or .txt")
    content = writers[file.suffix](game, saved)
    try:
        file.write_text(content, "utf-8")
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror}") from error
