"""`tesuji play`: a game against the search, in the terminal."""

from typing import Annotated

import typer

from tesuji.cli.errors import refusing

DEFAULT_BUDGET = {"seconds": 1.0}


def play(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A bundled game, or FILE.py:Class.")],
    side: Annotated[
        str, typer.Option(help="Your seat: first, second, … or none, to watch.")
    ] = "first",
    simulations: Annotated[int | None, typer.Option(help="Simulations a move.")] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Seconds a move (1 if no budget is given)."),
    ] = None,
    evaluator: Annotated[
        str, typer.Option(help="rollout: UCT with random playouts. uniform: PUCT, value 0.")
    ] = "rollout",
    seed: Annotated[int, typer.Option(min=0, help="Of the search and of chance.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="OPTION=VALUE", help="Any option of SearchConfig."),
    ] = None,
) -> None:
    """Play against the search: one seat is yours, all others are the search's.

    Type a move, or hint, undo, help, quit. Ctrl-C while it thinks makes it move at once.

    Example: [bold]tesuji play connect-four --side second --seconds 3[/]

    A weak opponent: [bold]tesuji play tic-tac-toe --simulations 20[/]

    Watch it alone: [bold]tesuji play "2048(target=256)" --side none --simulations 200[/]
    """
    from tesuji.cli.asking import Wishes, make_searcher
    from tesuji.cli.playing import Match, parse_side

    wishes = Wishes(game, simulations, seconds, evaluator, settings or [])
    searcher = make_searcher(wishes, DEFAULT_BUDGET)
    with refusing(game):
        seat = parse_side(side, searcher.game.num_players)
        Match(searcher, seat, seed).play()
