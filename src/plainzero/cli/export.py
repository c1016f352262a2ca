"""`plainzero export`: a run's network as a file for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from plainzero.cli.terminal.errors import BadInput, refusing


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    onnx: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the network, in ONNX.")
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to write it as safetensors, to ship with PlainZero."
        ),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Goes into --weights: how and when it was trained, its strength."
        ),
    ] = None,
    step: Annotated[
        int | None, typer.Option(min=0, help="Of the weights; the latest if left out.")
    ] = None,
) -> None:
    """Write a run's network to an ONNX file, checked by running it, or to one of weights.

    The ONNX file takes planes, for any number of positions, and gives logits
    and values, from the view of the player to move. The file of weights also
    holds all that playing with them takes.

    Example: [bold]plainzero export runs/connect-four --onnx connect_four.onnx[/]

    Example: [bold]plainzero export runs/connect-four --weights connect-four.safetensors[/]
    """
    if onnx is None and weights is None:
        raise BadInput("there is nothing to write: give --onnx FILE, --weights FILE, or both")
    if about is not None and weights is None:
        raise BadInput("--about goes into a file of weights: give --weights FILE too")
    if onnx is not None:
        _write_onnx(run, step, onnx)
    if weights is not None:
        _write_weights(run, step, weights, about or "")


def _write_onnx(run: Path, step: int | None, path: Path) -> None:
    with refusing():
        from plainzero.networks.export import TOLERANCE, export_onnx
        from plainzero.training.saved_run import open_run

        saved = open_run(run)
        export_onnx(saved.network(step), saved.game, path)
    typer.echo(
        f"{path}: planes [batch, {', '.join(map(str, saved.game.observation_shape))}] to logits "
        f"and values; ONNX Runtime says what PyTorch says, within {TOLERANCE:g}"
    )


def _write_weights(run: Path, step: int | None, path: Path, about: str) -> None:
    with refusing():
        from plainzero.opponents.network_files import write_network_file
        from plainzero.training.saved_run import open_run

        file = write_network_file(open_run(run), path, step, about)
    typer.echo(
        f"{path}: the weights of step {file.step} for {file.game}, float32, "
        f"{path.stat().st_size / 1e6:.1f} MB"
    )
