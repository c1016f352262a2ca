"""`plainzero play`: a game in the terminal against a network, a search or another agent."""

from typing import TYPE_CHECKING, Annotated

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero import Searcher
    from plainzero.cli.terminal.play_game import Match
    from plainzero.cli.terminal.search_arguments import SearchArgs

DEFAULT_BUDGET = {"seconds": 1.0}


def play(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A bundled game, or your own: FILE.py.")
    ],
    side: Annotated[
        str, typer.Option(help="Your seat: first, second, …, or none to watch.")
    ] = "first",
    simulations: Annotated[int | None, typer.Option(min=0, help="Simulations per move.")] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Seconds per move of a search (1 if no budget is given)."),
    ] = None,
    evaluator: Annotated[
        str | None,
        typer.Option(
            help="rollout: UCT with random playouts; uniform: PUCT with uniform priors.",
            show_default="rollout",
        ),
    ] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT",
            help="Opponent: bundled:50, run:FOLDER\\[@STEP]:SIMULATIONS, uct:1000, …",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="OPTION=VALUE", help="Any search option; see docs/using-the-search.md."
        ),
    ] = None,
) -> None:
    """Play against the computer.

    The default opponent is the game's bundled network if there is one, else a search with random
    playouts; --opponent chooses another.

    Type a move, or hint, undo, help, quit. Ctrl-C while it thinks makes it move at once.

    Example: [bold]plainzero play connect-four --side second --seconds 3[/]

    A weak opponent: [bold]plainzero play tic-tac-toe --simulations 20[/]

    Your own network: [bold]plainzero play connect-four --opponent run:runs/first:200[/]

    Watch: [bold]plainzero play "2048(target=256)" --side none --simulations 200[/]
    """
    from plainzero.cli.terminal.play_game import Match, parse_side
    from plainzero.cli.terminal.search_arguments import SearchArgs, make_searcher

    args = SearchArgs(game, simulations, seconds, evaluator or "rollout", settings or [])
    if opponent is not None:
        match = _match_against(opponent, args, side, seed)
    elif evaluator is None and _meets_network(args):
        match = _match_against_network(args, side, seed)
    else:
        searcher = make_searcher(args, DEFAULT_BUDGET)
        with refusing(game):
            match = Match(searcher, parse_side(side, searcher.game.num_players), seed)
        if evaluator is None:
            _announce_search(searcher)
    with refusing(game):
        match.play()


def _meets_network(args: "SearchArgs") -> bool:
    """Whether the opponent is the bundled network: there is one, and no search option is given."""
    from plainzero import make_game
    from plainzero.opponents.bundled_networks import has_bundled_network

    if args._replace(simulations=None).says_how_to_search:
        return False
    with refusing(args.game):
        return has_bundled_network(make_game(args.game))


def _match_against_network(args: "SearchArgs", side: str, seed: int) -> "Match":
    """A game against the bundled network, which is announced."""
    from plainzero import make_game
    from plainzero.opponents.bundled_networks import USUAL_SIMULATIONS, agent_for_people
    from plainzero.opponents.connect_four.opening_book import has_book

    game = make_game(args.game)
    simulations = USUAL_SIMULATIONS if args.simulations is None else args.simulations
    opponent = agent_for_people(game, simulations)
    match = _match_against(opponent, args._replace(simulations=None), side, seed)
    search = f"with {simulations:,} simulations per move" if simulations else "without a search"
    book = " and the opening book" if has_book(game) else ""
    typer.echo(
        f"Your opponent is {opponent}: the bundled network {search}{book}. "
        "Use --opponent to choose another."
    )
    return match


def _announce_search(searcher: "Searcher") -> None:
    """Says what a search without a network does per move, and how to choose another opponent."""
    from plainzero.opponents.bundled_networks import agent_for_people, has_bundled_network

    if searcher.game.num_players == 1:
        return
    config = searcher.config
    amounts = {"simulations": config.simulations, "nodes": config.nodes, "s": config.seconds}
    budget = " or ".join(f"{amount:,g} {unit}" for unit, amount in amounts.items() if amount)
    other = "Use --opponent to choose another."
    if has_bundled_network(searcher.game):
        other = (
            "You gave search options; to play the bundled network, use --opponent "
            f"{agent_for_people(searcher.game)}."
        )
    typer.echo(f"Your opponent is a search with random playouts, {budget} per move. {other}")


def _match_against(opponent: str, args: "SearchArgs", side: str, seed: int) -> "Match":
    """A game against an agent; if the agent does not search, a search gives the hints."""
    from plainzero import make_game
    from plainzero.arena.agent_specs import parse_agent
    from plainzero.cli.terminal.play_game import Match, parse_side
    from plainzero.cli.terminal.search_arguments import make_searcher
    from plainzero.opponents.book_agent import BookAgent
    from plainzero.opponents.search_agent import SearchAgent

    with refusing(args.game):
        agent_game = make_game(args.game)
        agent = parse_agent(opponent, agent_game)
        seat = parse_side(side, agent_game.num_players)
        book = agent if isinstance(agent, BookAgent) else None
        player = agent if book is None else book.agent
        if not isinstance(player, SearchAgent):
            return Match(make_searcher(args, DEFAULT_BUDGET), seat, seed, agent, agent.name)
        if args.says_how_to_search:
            raise BadInput(
                "with --opponent, the budget and the options belong to the agent: "
                "--opponent uct:1000,c_uct=1"
            )
        return Match(player.searcher(), seat, seed, name=agent.name, book=book)
