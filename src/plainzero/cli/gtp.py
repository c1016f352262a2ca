"""`plainzero gtp`: an agent as a program for boards and referees that speak GTP."""

from typing import Annotated

import typer

from plainzero.cli.terminal.errors import refusing


def gtp(
    game: Annotated[
        str, typer.Option(help="What is played; boardsize and komi may change it.")
    ] = "go",
    agent: Annotated[
        str, typer.Option(help="Who plays, as for `plainzero match`: uct:10000, run:FOLDER:800, …")
    ] = "uct:10000",
    seed: Annotated[int, typer.Option(min=0, help="Of the agent.")] = 0,
) -> None:
    """Speak GTP 2 on stdin and stdout: an engine for Sabaki, GoGui and other programs.

    Without a clock the agent's simulations count; with time_settings it searches by the clock.

    Example: [bold]plainzero gtp --game "go(size=9)" --agent uct:20000[/]

    A trained network: [bold]plainzero gtp --game hex --agent run:runs/hex:800[/]
    """
    from plainzero import make_game
    from plainzero.protocols.gtp.program import GtpServer
    from plainzero.protocols.gtp.session import GtpSession
    from plainzero.protocols.line_reader import read_input, write_output

    with refusing(game):
        session = GtpSession(make_game(game), agent, seed)
    GtpServer(session, read_input(), write_output).serve()
