"""`plainzero bench`: speed beside other programs in the same run, as ratios."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from rich.console import Console

    from plainzero.bench.games import Comparison, GamesReport
    from plainzero.bench.gpu_search import GpuReport
    from plainzero.bench.measure import Report
    from plainzero.bench.selfplay import SelfPlayReport

app = typer.Typer(
    help="Measure speed, beside other programs in the same run.", no_args_is_help=True
)


@app.callback()
def bench() -> None:
    """Measure speed, beside other programs in the same run."""


@app.command()
def search(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    repeats: Annotated[
        int, typer.Option(min=1, help="Repeats per measurement; the best counts.")
    ] = 25,
) -> None:
    """Search and random playouts on Connect Four and tic-tac-toe, beside OpenSpiel's C++ MCTSBot.

    Both sides take turns, on one thread unless stated. OpenSpiel is measured if the package
    open_spiel is installed.

    Example: plainzero bench search --json > search.json
    """
    from rich.console import Console

    from plainzero.bench.measure import measure_all
    from plainzero.bench.search import search_workloads

    report = measure_all(search_workloads(), repeats, Console(stderr=True))
    if as_json:
        json.dump(report.as_dict(), sys.stdout)
        sys.stdout.write("\n")
    else:
        _print_table(report)


@app.command()
def games(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="GAME", help="Games (default: all).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    repeats: Annotated[
        int, typer.Option(min=1, help="Repeats per measurement; the best counts.")
    ] = 7,
) -> None:
    """Rules and search of every bundled game, beside OpenSpiel's C++ in the same run.

    Measures playouts of uniformly random moves, UCT with one rollout per simulation, PUCT with a
    constant evaluator (both beside OpenSpiel's MCTSBot, 2,000 simulations, one thread), and memory.

    Example: plainzero bench games gomoku go --json > games.json
    """
    from rich.console import Console

    from plainzero.bench.games import measure_games

    with refusing():
        report = measure_games(names or [], repeats, Console(stderr=True))
    if as_json:
        json.dump(report.as_dict(), sys.stdout)
        sys.stdout.write("\n")
    else:
        _print_games(report)


@app.command()
def selfplay(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    repeats: Annotated[int, typer.Option(min=1, help="Timed windows per row.")] = 5,
    seconds: Annotated[float, typer.Option(min=0.01, help="Seconds per window.")] = 6.0,
    games: Annotated[int, typer.Option(min=1, help="Parallel games per thread.")] = 256,
    threads: Annotated[
        int, typer.Option(min=1, help="Our threads, or a peer's processes; one core each.")
    ] = 2,
    peers_python: Annotated[Path, typer.Option(help="Python with the peers installed.")] = Path(
        sys.executable
    ),
) -> None:
    """Self-play on Connect Four, 4×64 network, 64 simulations, beside mctx + pgx and OpenSpiel.

    All take turns. The peers run in separate processes, possibly of another environment:
    pip install jax mctx pgx open_spiel flax optax chex orbax-checkpoint

    Example: plainzero bench selfplay --peers-python ../peers/bin/python --json > selfplay.json
    """
    from rich.console import Console

    from plainzero.bench.selfplay import SelfPlayBenchOptions, measure_selfplay

    options = SelfPlayBenchOptions(repeats, seconds, games, threads, peers_python)
    with refusing():
        report = measure_selfplay(options, Console(stderr=True))
    if as_json:
        json.dump(report.as_dict(), sys.stdout)
        sys.stdout.write("\n")
    else:
        _print_selfplay(report)


@app.command()
def gpu(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="A Markdown table.")] = False,
    repeats: Annotated[
        int, typer.Option(min=1, help="Repeats per measurement; the best counts.")
    ] = 5,
    peers_python: Annotated[
        Path | None, typer.Option(help="Python with the peers installed (default: this one).")
    ] = None,
    no_peers: Annotated[bool, typer.Option("--no-peers", help="Measure only PlainZero.")] = False,
) -> None:
    """Searches of thousands of games on an NVIDIA GPU, bf16 networks, beside mctx + pgx.

    The peer runs in a separate process on the same GPU, possibly of another environment with JAX
    for CUDA, mctx and pgx.

    Example: plainzero bench gpu --peers-python ../peers/bin/python --json > gpu.json
    """
    from rich.console import Console

    if as_json and markdown:
        raise BadInput("--json and --markdown exclude each other")
    if no_peers and peers_python is not None:
        raise BadInput("--no-peers and --peers-python exclude each other")
    with refusing():
        from plainzero.bench.gpu_search import GpuBenchOptions, as_markdown, measure_gpu

        options = GpuBenchOptions(
            repeats, None if no_peers else peers_python or Path(sys.executable)
        )
        report = measure_gpu(options, Console(stderr=True))
    if as_json:
        json.dump(report.as_dict(), sys.stdout)
        sys.stdout.write("\n")
    elif markdown:
        sys.stdout.write(as_markdown(report) + "\n")
    else:
        _print_gpu(report)


@app.command()
def learning(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GAME",
            help="Games (default: all bundled ones, and three in the style of strangers).",
        ),
    ] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="Length of each run.")] = 5.0,
    games: Annotated[
        int,
        typer.Option(
            min=0,
            help="Games of each match; other yardsticks grow with it. 0: strength is not measured.",
        ),
    ] = 40,
    simulations: Annotated[
        list[int] | None,
        typer.Option(
            min=0,
            help="Simulations per move of the trained network; 0 for the network alone. May be "
            "repeated.",
            show_default="100; 1 and 100 in Go",
        ),
    ] = None,
    opponent: Annotated[
        str,
        typer.Option(
            "--yardstick", help="Agent to play against, instead of each game's own yardstick."
        ),
    ] = "",
    folder: Annotated[Path, typer.Option(help="Folder for the runs.")] = Path("runs/learning"),
    device: Annotated[str, typer.Option(help="auto (a GPU if available), cpu, cuda, …")] = "auto",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SECTION.OPTION=VALUE",
            help="A setting of the runs, to compare with the defaults.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    at_once: Annotated[
        int,
        typer.Option(min=1, help="Games trained and measured at once; on a GPU they share it."),
    ] = 1,
    measure_only: Annotated[
        bool, typer.Option("--measure-only", help="Measure the runs in the folder; train none.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """How well the default command learns: trains each game, then measures its strength.

    Measures the weights after a quarter, half and the whole of each run by the game's yardstick:
    a match, solved positions, exact values or, in 2048, the tiles reached; see docs/strength.md.

    Example: plainzero bench learning "othello(size=6)" "hex(size=7)" --minutes 5
    """
    from rich.console import Console

    from plainzero.bench.learning import LearningBenchOptions, measure_learning
    from plainzero.cli.terminal.learning_table import print_learning

    options = LearningBenchOptions(
        minutes=minutes,
        games=games,
        simulations=tuple(simulations or ()),
        folder=folder,
        device=device,
        opponent=opponent,
        settings=tuple(settings or ()),
        seed=seed,
        at_once=at_once,
        trains=not measure_only,
    )
    console = Console(stderr=True)
    with refusing(), console.status("") as status:
        report = measure_learning(names or [], options, status.update)
    if as_json:
        json.dump(report.as_dict(), sys.stdout)
        sys.stdout.write("\n")
    else:
        print_learning(report)


def _print_games(report: "GamesReport") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title="plainzero bench games", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("game", no_wrap=True)
    columns = ("playouts/s", "×", "plies", "theirs", "UCT/s", "×", "PUCT/s", "×", "state", "node")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for row in report.rows:
        theirs = row.plies.theirs
        table.add_row(
            row.game,
            *_beside(row.playouts),
            f"{row.plies.ours:.0f}",
            f"{theirs:.0f}" if theirs is not None else "",
            *_beside(row.uct),
            *_beside(row.puct),
            f"{row.state_bytes:,}",
            f"{row.node_bytes:,.0f}",
        )
    console = Console()
    console.print(table)
    console.print(
        "×: ratio to OpenSpiel's C++. Plies per random playout, ours and theirs; bytes per state "
        "and per node with its edges.",
        style="dim",
    )
    _print_machine(console, report)


def _beside(rates: "Comparison") -> list[str]:
    from plainzero.bench.measure import format_rate

    ratio = rates.ratio
    return [format_rate(rates.ours), f"[bold]{ratio:.1f}[/]" if ratio is not None else ""]


def _print_selfplay(report: "SelfPlayReport") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title="plainzero bench selfplay", title_justify="left", box=box.SIMPLE_HEAD)
    for column in ("moves/s", "backend"):
        table.add_column(column, no_wrap=True)
    for column in ("best", "median", "evals", "busy", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in report.rows:
        table.add_row(row.name, row.backend, *_selfplay_cells(row))
    console = Console()
    console.print(table)
    for row in report.rows:
        if row.missing:
            console.print(f"{row.name}: {row.missing}", highlight=False)
    console.print(
        "Best and median of the windows; evaluations per move; share of time the network is busy; "
        "ratio of the best to the better peer's best.",
        style="dim",
    )
    load = " to ".join(f"{load:.1f}" for load in report.load)
    console.print(f"{report.machine['cpu']}, {report.machine['cores']} cores; load {load}")


def _selfplay_cells(row: Any) -> list[str]:
    if row.missing:
        return ["missing"]
    return [
        f"{row.positions_per_second:.1f}",
        f"{row.median_positions_per_second:.1f}",
        f"{row.evaluations_per_position:.1f}",
        "" if row.is_peer else f"{row.network_share:.0%}",
        "" if row.ratio is None else f"[bold]{row.ratio:.1f} ×[/]",
    ]


def _print_gpu(report: "GpuReport") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from plainzero.bench.gpu_search import row_cells

    table = Table(title="plainzero bench gpu", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("work")
    for column in ("simulations/s", "evaluations/s", "of it", "runs", "mctx + pgx", "×"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in report.rows:
        *cells, ratio = row_cells(row)
        table.add_row(row.work, *cells, f"[bold]{ratio}[/]" if ratio else "")
    console = Console()
    console.print(table)
    for work, why in report.left_out.items():
        console.print(f"{work} was skipped: {why}", highlight=False, markup=False)
    for why in dict.fromkeys(row.missing for row in report.rows if row.missing):
        console.print(f"mctx + pgx: {why}", highlight=False, markup=False)
    console.print(
        "Evaluations/s of the network alone, one position per game and batch; share of that rate "
        "the search reaches (mctx + pgx in brackets); share of the time in which a kernel of the "
        "network runs.",
        style="dim",
    )
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    console.print(f"{report.gpu}; {report.date}; {versions}")


def _print_table(report: "Report") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from plainzero.bench.measure import format_rate

    table = Table(
        title="plainzero bench search",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),  # so that it fits into 80 columns
    )
    table.add_column("work")
    for column in ("ours", "theirs", "unit", "ratio", "peer"):
        is_text = column in ("unit", "peer")
        table.add_column(column, justify="left" if is_text else "right", no_wrap=True)
    for row in report.rows:
        table.add_row(
            row.work,
            format_rate(row.ours),
            format_rate(row.theirs) if row.theirs is not None else "",
            row.unit,
            f"[bold]{row.ratio:.1f} ×[/]" if row.ratio is not None else "",
            (row.peer or "").removesuffix(f" {report.versions.get('open_spiel')}"),  # see below
        )
    console = Console()
    console.print(table)
    _print_machine(console, report)


def _print_machine(console: "Console", report: "Report | GamesReport") -> None:
    """Prints the machine and the versions, and how to get OpenSpiel if it is missing."""
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    console.print(f"{report.machine['cpu']}, {report.machine['cores']} cores; {versions}")
    if "open_spiel" not in report.versions:
        typer.echo(
            "OpenSpiel is not installed, so there is nothing to compare with: "
            "pip install 'plainzero[bridges]'"
        )
