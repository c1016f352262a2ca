"""`plainzero evaluate`: how often a network errs on solved positions."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero import SearchConfig
    from plainzero.arena.accuracy import Accuracy, Measures


def evaluate(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run's folder, or an agent such as uct:1000.")
    ],
    positions: Annotated[
        Path | None,
        typer.Option(help="Solved positions, .csv or Othello's .obf (default: the bundled set)."),
    ] = None,
    simulations: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Simulations per move for a run; 0 for the network alone.",
            show_default="100",
        ),
    ] = None,
    step: Annotated[int | None, typer.Option(help="Step of the weights (default: latest).")] = None,
    game: Annotated[
        str | None, typer.Option(help="Game (default: the one the run was trained on).")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Number of positions, sampled at random.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Measure the network alone and with search on solved positions.

    An error is a move that gives away a win or a draw. Ctrl-C stops and shows the result so far.

    Example: [bold]plainzero evaluate runs/first --simulations 100[/]
    """
    from plainzero.arena.accuracy import evaluate_positions, sample_positions, shuffle_positions
    from plainzero.cli.terminal.match_arguments import known_positions, parse_judge, waiting
    from plainzero.opponents.search_agent import SearchAgent

    with refusing(game or ""):
        agent = parse_judge(run, game, step, simulations)
        known = known_positions(agent.game, positions)
        if known is None:
            raise BadInput(
                f"no bundled positions for {agent.game.name}; name a file with --positions"
            )
        if sample is not None:
            known = sample_positions(known, sample, seed)
        known = shuffle_positions(known, seed)
        configs: list[SearchConfig | None] = [] if isinstance(agent.evaluator, str) else [None]
        if isinstance(agent, SearchAgent):
            configs.append(agent.config)
        found = []
        with waiting("positions") as wait:
            for config in configs:
                what = "network alone" if config is None else f"{config.simulations} simulations"

                def progress(done: int, total: int, what: str = what) -> None:
                    wait.update_or_stop(what, done, total)

                found.append(
                    evaluate_positions(
                        agent.game, agent.evaluator, known, config, seed, progress=progress
                    )
                )
                if wait.is_enough():
                    break
    if as_json:
        head = {"game": agent.game.name, "run": run, "positions": str(positions or "bundled")}
        typer.echo(json.dumps({**head, "results": [accuracy.as_dict() for accuracy in found]}))
    else:
        _show(f"{agent.game.name}: {run}", found)


def _show(title: str, found: "list[Accuracy]") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from plainzero.cli.terminal.match_arguments import percent

    console = Console(highlight=False)
    console.print(f"[bold]{escape(title)}[/]", soft_wrap=True)
    for accuracy in found:
        searched = f"{accuracy.simulations:,} simulations" if accuracy.simulations else "network"
        table = Table(
            box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1), title=searched, title_justify="left"
        )
        for column in ("stage", "count", "errors", "log loss", "value sign", "draws"):
            justify: Any = "left" if column == "stage" else "right"
            table.add_column(column, justify=justify, no_wrap=True)
        rows = {"all": accuracy.total, **accuracy.by_stage}
        for stage, measures in rows.items():
            if measures.positions:
                style = "bold" if stage == "all" else ""
                count = f"{measures.positions:,}"
                table.add_row(stage, count, *_numbers(measures), style=style)
        console.print(table)
        if accuracy.total.best_move.mean is not None:
            console.print(f"move with the best score: {percent(accuracy.total.best_move)}\n")
    if any(accuracy.was_interrupted for accuracy in found):
        console.print("[dim]stopped early: only the positions measured so far count[/]")
    console.print(
        "[dim]errors: share of positions in which the chosen move gives away a win or a draw\n"
        "log loss: −ln of the total probability of correct moves\n"
        "value sign: share of won and lost positions whose value has the right sign\n"
        "draws: mean |value| of drawn positions (0 is best)\n"
        "in parentheses: 95% confidence intervals[/]"
    )


def _numbers(measures: "Measures") -> list[str]:
    from plainzero.cli.terminal.match_arguments import percent

    loss, draws = measures.cross_entropy, measures.draw_value
    return [
        percent(measures.error_rate),
        "–" if loss.mean is None else f"{loss.mean:.3f}",
        percent(measures.value_sign),
        "–" if draws.mean is None else f"{draws.mean:.2f}",
    ]
