"""`tesuji export`: a run's network as a file for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from tesuji.cli.errors import refusing


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    onnx: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write the network, in ONNX.")
    ],
    step: Annotated[
        int | None, typer.Option(min=0, help="Of the weights; the latest if left out.")
    ] = None,
) -> None:
    """Write a run's network to an ONNX file, checked by running it.

    The file takes planes, for any number of positions, and gives logits and
    values, from the view of the player to move.

    Example: [bold]tesuji export runs/connect-four --onnx connect_four.onnx[/]
    """
    with refusing():
        from tesuji.networks.exporting import TOLERANCE, export_onnx
        from tesuji.training.saved import open_run

        saved = open_run(run)
        export_onnx(saved.network(step), saved.game, onnx)
    typer.echo(
        f"{onnx}: planes [batch, {', '.join(map(str, saved.game.observation_shape))}] to logits "
        f"and values; ONNX Runtime says what PyTorch says, within {TOLERANCE:g}"
    )
