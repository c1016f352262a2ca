"""`plainzero check`: what is wrong with a game, one line a finding."""

from typing import Annotated

import typer

from plainzero.cli.terminal.errors import refusing


def check(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A bundled game, or FILE.py:Class.")],
    games: Annotated[int, typer.Option(min=1, help="Random games to play.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Of the random play.")] = 0,
) -> None:
    """Try a game's rules by random play, uncompiled and compiled.

    Prints one line for each kind of thing that is wrong, with what to do, and
    exits with 1; with 0 when nothing is.

    Example: [bold]plainzero check my_game.py:MyGame[/]

    With parameters: [bold]plainzero check "my_game.py:MyGame(size=5)" --games 100[/]
    """
    with refusing(game):
        from plainzero import check_game, make_game

        checked = make_game(game)
        findings = check_game(checked, games=games, seed=seed)
    for finding in findings:
        typer.echo(str(finding))
    if findings:
        raise typer.Exit(1)
    typer.echo(
        f"{checked.name} is in order: up to {games} random games with seed {seed}; legal moves, "
        "players, returns, chance,\nobservations, symmetries, names and views tried, and the "
        "compiled rules do what the plain ones do."
    )
