"""`plainzero check`: finds problems in a game, one line each."""

from typing import Annotated

import typer

from plainzero.cli.terminal.errors import refusing


def check(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A bundled game, or your own: FILE.py.")
    ],
    games: Annotated[int, typer.Option(min=1, help="Random games to play.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
) -> None:
    """Test a game's rules by random play, as plain Python and compiled.

    Prints one line per problem with what to do about it, and exits with 1. A game that runs on the
    CPU but not on a GPU passes; the line says why.

    Example: [bold]plainzero check my_game.py:MyGame[/]

    With parameters: [bold]plainzero check "my_game.py:MyGame(size=5)" --games 100[/]
    """
    with refusing(game, is_check=True):
        from plainzero import check_game, make_game

        checked = make_game(game)
        problems = check_game(checked, games=games, seed=seed)
    for problem in problems:
        typer.echo(str(problem))
    if any(problem.severity == "error" for problem in problems):
        raise typer.Exit(1)
    typer.echo(
        f"{checked.name} passes the check: up to {games} random games with seed {seed} found no "
        "fault in legal moves,\nplayers, returns, chance, observations, symmetries, names and "
        "views, and the compiled rules agree with the plain ones."
    )
