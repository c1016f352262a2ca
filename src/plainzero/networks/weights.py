"""Files of weights, in the safetensors format, written atomically.

Each file holds a digest of its tensors, so that damage is detected.
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
    """A file of weights is missing, damaged, or belongs to another network."""


def save_weights(
    network: nn.Module | Mapping[str, Tensor], path: Path | str, metadata: Mapping[str, str]
) -> None:
    """Writes a network's weights, or a state dict, with metadata.

    Raises:
        OSError: when the file cannot be written; an existing file is left as it was.
    """
    named = network.state_dict() if isinstance(network, nn.Module) else network
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in named.items()}
    write_whole(Path(path), save(weights, {**metadata, _DIGEST: _digest(weights)}))


def to_float16(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights rounded to float16, which take half the room; a tensor that would overflow stays.

    A network's logits and values change by about a thousandth.
    """
    halves = {name: tensor.detach().half() for name, tensor in weights.items()}
    return {
        name: halves[name] if halves[name].isfinite().all() else weights[name] for name in halves
    }


def load_weights(path: Path | str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a file by name, and its metadata.

    Raises:
        WeightsError: when the file is missing or damaged.
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
        raise WeightsError(f"{path} is damaged: its contents do not match its digest")
    return weights, metadata


def put_weights(network: nn.Module, weights: Mapping[str, Tensor], source: Path | str) -> None:
    """Copies weights into a network of the same shape.

    Args:
        network: changed in place; left as it was if the weights do not fit.
        weights: the tensors by name.
        source: their origin, for the message.

    Raises:
        WeightsError: names the first tensor that does not fit.
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
