"""Weights in files: safetensors, whole or not at all.

A digest of the tensors goes into each file, by which damage is found.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from plainzero.atomic_files import write_whole

_DIGEST = "plainzero.sha256"


class WeightsError(ValueError):
    """A file of weights that is missing, damaged, or of another network."""


def save_weights(
    network: nn.Module | Mapping[str, Tensor], path: Path | str, metadata: Mapping[str, str]
) -> None:
    """Writes a network's weights, or a state dict, and what is to be known of them.

    Raises:
        OSError: when it cannot be written; what was there before is still there.
    """
    named = network.state_dict() if isinstance(network, nn.Module) else network
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}
    write_whole(Path(path), save(weights, {**metadata, _DIGEST: _digest(weights)}))


def load_weights(path: Path | str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a file by name, and what was written of them.

    Raises:
        WeightsError: when there is no such file, or it is damaged.
    """
    if not Path(path).is_file():
        raise WeightsError(f"there are no weights at {path}")
    try:
        with safe_open(path, "pt") as file:
            metadata = dict(file.metadata() or {})
            weights = {name: file.get_tensor(name) for name in file.keys()}
    except (SafetensorError, OSError) as error:
        raise WeightsError(f"{path} cannot be read: {error}") from error
    digest = metadata.pop(_DIGEST, None)
    if digest is not None and digest != _digest(weights):
        raise WeightsError(f"{path} is damaged: its contents are not those it was written with")
    return weights, metadata


def put_weights(network: nn.Module, weights: Mapping[str, Tensor], source: Path | str) -> None:
    """Copies weights into a network of the same shape.

    Args:
        network: is changed, or left as it is when the weights do not fit.
        weights: by name.
        source: where they are from, for the message.

    Raises:
        WeightsError: names the first that does not fit.
    """
    own = network.state_dict()
    for name, tensor in own.items():
        if name not in weights:
            raise WeightsError(f"{source} is of another network: it has no {name}")
        if weights[name].shape != tensor.shape:
            raise WeightsError(
                f"{source} is of another network: {name} has the shape "
                f"{tuple(weights[name].shape)} there and {tuple(tensor.shape)} here"
            )
    if more := sorted(set(weights) - set(own)):
        raise WeightsError(f"{source} is of another network: this one has no {more[0]}")
    network.load_state_dict(dict(weights))


def _digest(weights: Mapping[str, Tensor]) -> str:
    """SHA-256 of names, shapes and numbers."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
