"""`plainzero search`: searches one position and shows the result."""

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero import Searcher
    from plainzero.cli.terminal.search_progress import Thought

DEFAULT_BUDGET = {"simulations": 10_000}


def search(
    game: Annotated[
        str, typer.Argument(metavar="GAME", help="A bundled game, or your own: FILE.py.")
    ],
    moves: Annotated[
        str, typer.Option(help='Moves to play first: "4 4 3" or "left 2, up 1".')
    ] = "",
    simulations: Annotated[
        int | None,
        typer.Option(help="Number of simulations (10,000 if no budget is given)."),
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Search time.")] = None,
    evaluator: Annotated[
        str,
        typer.Option(
            help="rollout: UCT with random playouts; uniform: PUCT with uniform priors, value 0."
        ),
    ] = "rollout",
    agent: Annotated[
        str,
        typer.Option(
            help="Search as this agent of `plainzero match` does: bundled:200, run:FOLDER:800, …"
        ),
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    threads: Annotated[int | None, typer.Option(help="Threads; one position uses one.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="OPTION=VALUE", help="Any search option; see docs/using-the-search.md."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Search one position and show the result. Ctrl-C stops and shows the result so far.

    Example: [bold]plainzero search connect-four --moves "4 4 3" --seconds 2[/]

    A trained network: [bold]plainzero search connect-four --moves "4 4 3" --agent bundled:200[/]

    Gumbel: [bold]plainzero search tic-tac-toe --evaluator uniform --set selection=gumbel[/]

    A proof: [bold]plainzero search tic-tac-toe --set proven_values=true --simulations 100000[/]
    """
    from plainzero.cli.terminal.search_arguments import (
        SearchArgs,
        make_searcher,
        play_moves,
        searcher_of_agent,
    )
    from plainzero.cli.terminal.search_progress import think

    args = SearchArgs(game, simulations, seconds, evaluator, settings or [], threads)
    searcher = searcher_of_agent(agent, args) if agent else make_searcher(args, DEFAULT_BUDGET)
    with refusing(game):
        state, played = play_moves(searcher.game, moves, seed)
        if state.is_over:
            raise BadInput(f"the game is over after {' '.join(played)}; leave out the last move")
        thought = think(searcher, state, seed)
    if as_json:
        typer.echo(json.dumps(as_object(searcher, thought, played)))
    else:
        _show(searcher, thought, state, played)


def as_object(searcher: "Searcher", thought: "Thought", played: list[str]) -> dict[str, Any]:
    """The result as a JSON object, with moves by name."""
    game, result = searcher.game, thought.result
    edges = sorted(result.tree.edges(), key=lambda edge: (-edge.visits, edge.action))
    names = {edge.action: game.action_name(edge.action) for edge in edges}
    return {
        "game": game.name,
        "played": played,
        "to_play": result.to_play,
        "best": game.action_name(result.best_action),
        "action": game.action_name(result.action),
        "value": result.value,
        "values": result.values.tolist(),
        "proven": result.proven,
        "principal_variation": [game.action_name(move) for move in result.principal_variation],
        "moves": list(names.values()),
        "visits": {name: int(result.visits[action]) for action, name in names.items()},
        "q": {name: float(result.q[action]) for action, name in names.items()},
        "prior": {name: float(result.prior[action]) for action, name in names.items()},
        "exact": {names[edge.action]: edge.exact for edge in edges if edge.exact is not None},
        "simulations": result.simulations,
        "seconds": thought.seconds,
        "was_interrupted": thought.was_interrupted,
        "nodes": len(result.tree),
        "tree_bytes": searcher.planned_bytes(),
        "used_tree_bytes": result.tree.used_bytes,
        "is_tree_full": result.is_tree_full,
        "prior_fallbacks": result.prior_fallbacks,
        "config": dataclasses.asdict(result.config),
    }


def _show(searcher: "Searcher", thought: "Thought", state: Any, played: list[str]) -> None:
    from rich.console import Console
    from rich.markup import escape

    from plainzero.cli.terminal import boards

    console, game, result = Console(highlight=False), searcher.game, thought.result
    after = f" after {' '.join(played)}" if played else ""
    mover = f", {boards.seat_name(result.to_play)} to play" * (game.num_players > 1)
    console.print(f"[bold]{game.name}[/]{escape(after)}{mover}\n", soft_wrap=True)
    console.print(boards.draw_board(game, state))
    console.print(boards.moves_table(result))
    lines = {
        "best move": f"[bold green]{escape(game.action_name(result.best_action))}[/]",
        "value": boards.value_text(result),
        "best line": escape(boards.line_text(result)),
        "work": boards.work_text(thought),
        "tree": boards.tree_text(searcher, result),
    }
    notes = [("note", note) for note in boards.notes(searcher, thought)]
    for title, text in [*lines.items(), *notes]:
        console.print(f"[dim]{title:<11}[/]{text}", soft_wrap=True)
