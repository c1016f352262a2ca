"""`plainzero gomocup`: an agent as a program for referees and boards of Gomoku, such as Piskvork."""

from typing import Annotated

import typer

from plainzero.cli.terminal.errors import refusing


def gomocup(
    agent: Annotated[
        str,
        typer.Option(
            help="Who plays, as for `plainzero match`: threats:10000, uct:10000, run:FOLDER:800"
        ),
    ] = "threats:10000",
    seed: Annotated[int, typer.Option(min=0, help="Of the agent.")] = 0,
) -> None:
    """Speak the Gomocup protocol on stdin and stdout: an engine for Piskvork and other referees.

    The other side sets board, rule (freestyle, standard, renju), time and memory. Where it sets
    no time, the agent's simulations count.

    Example: [bold]plainzero gomocup --agent uct:20000[/]

    A trained network: [bold]plainzero gomocup --agent run:runs/gomoku:800[/]
    """
    from plainzero.protocols.gomocup.program import GomocupServer
    from plainzero.protocols.gomocup.session import GomocupSession
    from plainzero.protocols.line_reader import read_input, write_output

    with refusing():
        session = GomocupSession(agent, seed)
    GomocupServer(session, read_input(), write_output).serve()
