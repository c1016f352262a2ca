"""`plainzero yardstick`: measures an agent by its game's yardstick."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from plainzero.cli.terminal.errors import refusing


def yardstick(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="As in `match`: run:FOLDER:100, bundled:200, …")
    ],
    game: Annotated[
        str | None, typer.Option(help="Game (default: the one the run was trained on).")
    ] = None,
    games: Annotated[
        int, typer.Option(min=1, help="Games of a match; other yardsticks grow with it.")
    ] = 40,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Measure an agent by its game's yardstick, as `plainzero bench learning` does.

    Depending on the game: a match, solved positions, the chance to win against perfect play, or
    the tiles reached in 2048; docs/strength.md has the table.

    Example: [bold]plainzero yardstick run:runs/pig:100[/]

    Without a run: [bold]plainzero yardstick uct:1000 --game "hex(size=6)"[/]
    """
    from rich.console import Console

    from plainzero.arena.yardsticks.choose import yardstick_of
    from plainzero.arena.yardsticks.measurement import Effort
    from plainzero.cli.terminal.learning_table import figure_text
    from plainzero.cli.terminal.match_arguments import choose_game, playing, waiting

    with refusing(game or ""):
        chosen = choose_game(game, [agent])
        measure = yardstick_of(chosen)
        with playing([agent], chosen) as (player,), waiting("measuring") as wait:
            effort = Effort(games, seed, lambda done, total: wait.update("", done, total))
            found = measure.measure(chosen, player, effort)
    if as_json:
        head = {"game": chosen.name, "agent": agent, "yardstick": measure.name}
        typer.echo(json.dumps({**head, "target": measure.target, **asdict(found)}))
        return
    console = Console(highlight=False)
    console.print(f"[bold]{chosen.name}[/]: {agent}", soft_wrap=True)
    target = "" if measure.target is None else f", target {100 * measure.target:g} %"
    console.print(f"{measure.name}: {figure_text(found, measure.target)}{target}", soft_wrap=True)
    for name, number in found.more.items():
        console.print(f"[dim]{name}[/] {number:,.4g}")
    console.print(f"[dim]{found.sample}; in parentheses: 95 % interval[/]")
