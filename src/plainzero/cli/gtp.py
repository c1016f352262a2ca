"""`plainzero gtp`: an agent as an engine for programs that speak GTP."""

from typing import Annotated

import typer

from plainzero.cli.terminal.errors import refusing


def gtp(
    game: Annotated[
        str, typer.Option(help="Game; the commands boardsize and komi may change it.")
    ] = "go",
    agent: Annotated[
        str,
        typer.Option(
            help="Agent, as for `plainzero match`: bundled:200, uct:10000, run:FOLDER:800, …",
            show_default="bundled:200 if the game has a bundled network, else uct:10000",
        ),
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
) -> None:
    """Speak GTP 2 on stdin and stdout: an engine for Sabaki, GoGui and other programs.

    Without a clock the agent uses its number of simulations; with time_settings, its time.

    Example: [bold]plainzero gtp --game "go(size=9)" --agent uct:20000[/]

    A trained network: [bold]plainzero gtp --game hex --agent run:runs/hex:800[/]
    """
    from plainzero import make_game
    from plainzero.arena.agent_specs import parse_agent
    from plainzero.opponents.bundled_networks import usual_agent
    from plainzero.protocols.gtp.program import GtpServer
    from plainzero.protocols.gtp.session import GtpSession
    from plainzero.protocols.line_reader import read_input, write_output

    with refusing(game):
        session = GtpSession(
            make_game(game),
            lambda sized: parse_agent(agent or usual_agent(sized, "uct:10000"), sized),
            seed,
        )
    GtpServer(session, read_input(), write_output).serve()
