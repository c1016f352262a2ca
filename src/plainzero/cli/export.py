"""`plainzero export`: writes a run's network to a file."""

from pathlib import Path
from typing import Annotated

import typer

from plainzero.cli.terminal.errors import BadInput, refusing


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")],
    onnx: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the network as ONNX.")
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the network as safetensors, to bundle with PlainZero."
        ),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Note stored with --weights: how it was trained, its strength."
        ),
    ] = None,
    card: Annotated[
        Path | None,
        typer.Option(
            metavar="REPORT",
            help="Also write a model card beside the weights, NAME.md, with the figures of this "
            "report of `plainzero bench learning --json`.",
        ),
    ] = None,
    step: Annotated[
        int | None, typer.Option(min=0, help="Step of the weights (default: latest).")
    ] = None,
) -> None:
    """Write a run's network to an ONNX file, verified by running it, or to a weights file.

    The ONNX model maps planes of any number of positions to logits and values, from the point of
    view of the player to move. A weights file also holds everything needed to play with it.

    Example: [bold]plainzero export runs/connect-four --onnx connect_four.onnx[/]

    Example: [bold]plainzero export runs/connect-four --weights connect-four.safetensors[/]

    With a model card: [bold]plainzero export runs/learning/pig --weights pig.safetensors --card
    learning.json[/]
    """
    if onnx is None and weights is None:
        raise BadInput("nothing to write: give --onnx FILE, --weights FILE, or both")
    if about is not None and weights is None:
        raise BadInput("--about is stored in a weights file: give --weights FILE too")
    if card is not None and weights is None:
        raise BadInput("--card describes a weights file: give --weights FILE too")
    if onnx is not None:
        _write_onnx(run, step, onnx)
    if weights is not None:
        _write_weights(run, step, weights, about, card)


def _write_onnx(run: Path, step: int | None, path: Path) -> None:
    with refusing():
        from plainzero.networks.export import TOLERANCE, export_onnx
        from plainzero.training.saved_run import open_run

        saved = open_run(run)
        export_onnx(saved.network(step), saved.game, path)
    typer.echo(
        f"{path}: planes [batch, {', '.join(map(str, saved.game.observation_shape))}] to logits "
        f"and values; ONNX Runtime agrees with PyTorch within {TOLERANCE:g}"
    )


def _write_weights(
    run: Path, step: int | None, path: Path, about: str | None, card: Path | None
) -> None:
    with refusing():
        from plainzero.opponents.network_files import write_network_file
        from plainzero.training.saved_run import open_run

        saved = open_run(run)
        if card is None:
            file = write_network_file(saved, path, step, about or "")
        else:
            from plainzero.atomic_files import write_whole
            from plainzero.bench.model_card import model_card, read_report, summarise

            row = read_report(card, saved)
            file = write_network_file(saved, path, step, about or summarise(row))
            text = model_card(saved, file, row)
            write_whole(path.with_suffix(".md"), text.encode())
    typer.echo(
        f"{path}: weights of step {file.step} for {file.game}, float16, "
        f"{path.stat().st_size / 1e6:.1f} MB"
    )
