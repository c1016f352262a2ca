"""`plainzero games`: the bundled games."""

import dataclasses
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from plainzero import Game


def show_games(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """List the bundled games and their parameters.

    Example: [bold]plainzero games[/]
    """
    from plainzero.games.registry import bundled_games

    games = [_describe(name, cls) for name, cls in bundled_games().items()]
    if as_json:
        typer.echo(json.dumps({"games": games}))
    else:
        _show_table(games)


def _describe(name: str, cls: type["Game"]) -> dict[str, Any]:
    from plainzero.games.parameters import parameter_choices

    game = cls()
    return {
        "name": name,
        "parameters": {p.name: p.default for p in dataclasses.fields(cls)},
        "choices": parameter_choices(cls),
        "players": game.num_players,
        "actions": game.num_actions,
        "description": (cls.__doc__ or "").strip().split("\n")[0].replace("`", ""),
    }


def _show_table(games: list[dict[str, Any]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    written = [", ".join(_write(game, key) for key in game["parameters"]) for game in games]
    longest = max(len(word) for parameters in written for word in parameters.split())
    table = Table(box=SIMPLE_HEAD)
    table.add_column("game", style="bold", no_wrap=True)
    table.add_column("parameters", style="cyan", min_width=longest)
    table.add_column("players", justify="right")
    table.add_column("description")
    for game, parameters in zip(games, written, strict=True):
        table.add_row(game["name"], parameters, str(game["players"]), game["description"])
    console = Console()
    console.print(table)
    console.print(
        ' Play one: [bold]plainzero play trio[/] or [bold]plainzero play "trio(size=5)"[/]'
    )


def _write(game: dict[str, Any], name: str) -> str:
    """A parameter with its default, followed by the other choices."""
    default = game["parameters"][name]
    others = [str(choice) for choice in game["choices"].get(name, ()) if choice != default]
    return f"{name}={' | '.join([str(default), *others])}"
