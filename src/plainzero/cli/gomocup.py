"""`plainzero gomocup`: an agent as an engine for Piskvork and other Gomoku managers."""

from typing import Annotated

import typer

from plainzero.cli.terminal.errors import refusing


def gomocup(
    agent: Annotated[
        str,
        typer.Option(
            help="Agent, as for `plainzero match`: bundled:200, threats:10000, run:FOLDER:800, …",
            show_default="bundled:200 if the board has a bundled network, else threats:10000",
        ),
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
) -> None:
    """Speak the Gomocup protocol on stdin and stdout: an engine for Piskvork and other managers.

    The manager sets board, rule (freestyle, standard, renju), time and memory. If it sets no time,
    the agent uses its own number of simulations.

    Example: [bold]plainzero gomocup --agent uct:20000[/]

    A trained network: [bold]plainzero gomocup --agent run:runs/gomoku:800[/]
    """
    from plainzero import make_game
    from plainzero.arena.agent_specs import game_of_agents, parse_agent
    from plainzero.opponents.bundled_networks import usual_agent
    from plainzero.protocols.gomocup.program import GomocupServer
    from plainzero.protocols.gomocup.session import GomocupSession
    from plainzero.protocols.line_reader import read_input, write_output

    with refusing():
        game = game_of_agents([agent]) or make_game("gomoku")
        session = GomocupSession(
            game,
            lambda sized: parse_agent(agent or usual_agent(sized, "threats:10000"), sized),
            seed,
        )
    GomocupServer(session, read_input(), write_output).serve()
