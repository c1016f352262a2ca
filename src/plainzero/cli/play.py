"""`plainzero play`: a game against a network, the search or another agent, in the terminal."""

from typing import TYPE_CHECKING, Annotated

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero.cli.terminal.play_game import Match
    from plainzero.cli.terminal.search_arguments import Wishes

DEFAULT_BUDGET = {"seconds": 1.0}


def play(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A bundled game, or FILE.py:Class.")],
    side: Annotated[
        str, typer.Option(help="Your seat: first, second, … or none, to watch.")
    ] = "first",
    simulations: Annotated[
        int | None, typer.Option(min=0, help="Simulations a move, of a network that ships too.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Seconds a move of the search (1 if no budget is given)."),
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(
            help="rollout: UCT with random playouts. uniform: PUCT, value 0.",
            show_default="rollout",
        ),
    ] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT",
            help="Instead of the search: shipped:50, run:FOLDER[@STEP]:SIMULATIONS, uct:1000, …",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the search and of chance.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="OPTION=VALUE", help="Any option of SearchConfig."),
    ] = None,
) -> None:
    """Play a game: one seat is yours, all others are a machine's.

    A game that a trained network ships for is played against that one, with as many simulations as
    you say, unless you ask for another opponent or for more of the search; any other game against
    the search alone.

    Type a move, or hint, undo, help, quit. Ctrl-C while it thinks makes it move at once.

    Example: [bold]plainzero play connect-four --side second --seconds 3[/]

    A weak opponent: [bold]plainzero play tic-tac-toe --simulations 20[/]

    A trained one: [bold]plainzero play connect-four --opponent run:runs/first:200[/]

    Watch it alone: [bold]plainzero play "2048(target=256)" --side none --simulations 200[/]
    """
    from plainzero.cli.terminal.play_game import Match, parse_side
    from plainzero.cli.terminal.search_arguments import Wishes, make_searcher

    wishes = Wishes(game, simulations, seconds, evaluator or "rollout", settings or [])
    if opponent is None and evaluator is None:
        opponent = _choose_opponent(wishes)
        wishes = wishes if opponent is None else wishes._replace(simulations=None)
    if opponent is not None:
        match = _match_against(opponent, wishes, side, seed)
    else:
        searcher = make_searcher(wishes, DEFAULT_BUDGET)
        with refusing(game):
            match = Match(searcher, parse_side(side, searcher.game.num_players), seed)
    with refusing(game):
        match.play()


def _says_how_to_search(wishes: "Wishes") -> bool:
    return wishes[1:] != (None, None, "rollout", [], None)


def _choose_opponent(wishes: "Wishes") -> str | None:
    """The network that ships for the game; None where there is none, or not what is wished for.

    Either is said where there is one.
    """
    from plainzero import make_game
    from plainzero.opponents.bundled_networks import USUAL_SIMULATIONS, has_shipped

    with refusing(wishes.game):
        if not has_shipped(make_game(wishes.game)):
            return None
    if _says_how_to_search(wishes._replace(simulations=None)):
        typer.echo(
            "Your opponent is the search alone, because you said how to search; a trained network "
            f"ships for {wishes.game}: --opponent shipped:{USUAL_SIMULATIONS}."
        )
        return None
    simulations = USUAL_SIMULATIONS if wishes.simulations is None else wishes.simulations
    opponent = f"shipped:{simulations}"
    typer.echo(
        f"Your opponent is {opponent}: the network that ships for {wishes.game}, with "
        f"{simulations} simulations a move. --opponent chooses another."
    )
    return opponent


def _match_against(opponent: str, wishes: "Wishes", side: str, seed: int) -> "Match":
    """A game against an agent; where that one does not search, the search gives the hints."""
    from plainzero import make_game
    from plainzero.cli.terminal.play_game import Match, parse_side
    from plainzero.cli.terminal.search_arguments import make_searcher
    from plainzero.opponents.search_agent import SearchAgent, parse_agent

    with refusing(wishes.game):
        agent_game = make_game(wishes.game)
        agent = parse_agent(opponent, agent_game)
        seat = parse_side(side, agent_game.num_players)
        if not isinstance(agent, SearchAgent):
            return Match(make_searcher(wishes, DEFAULT_BUDGET), seat, seed, agent, agent.name)
        if _says_how_to_search(wishes):
            raise BadInput(
                "--opponent says how that agent searches; put its budget and options there, "
                "as in --opponent uct:1000,c_uct=1"
            )
        return Match(agent.searcher(), seat, seed, name=agent.name)
