"""A residual network for training, with convolution, bias, sum and ReLU as one operation.

In bfloat16 on a GPU that is one call of cuDNN, elsewhere several of PyTorch; the backward pass is
the same. Bias gradients are matrix products: as sums they took a sixth of a step (H200, 4 x 64).
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from plainzero.networks.architectures import Network, Output, answer_heads
from plainzero.networks.config import has_dense_heads
from plainzero.networks.extra_heads import ExtraHeads
from plainzero.networks.gpu.cublas_heads import join_heads
from plainzero.networks.gpu.cudnn_network import can_fuse_convolutions
from plainzero.networks.network_evaluators import has_gpu_bf16
from plainzero.networks.torch_private import (
    convolution_gradients,
    convolve_add_relu,
    convolve_relu,
    copy_all,
    multiply_to_float32,
    relu_gradient,
)

_MULTIPLE = 8  # channels and columns that tensor cores need


def can_learn_fused(network: nn.Module, device: torch.device) -> bool:
    """Whether `fused_output` can compute the network there in bfloat16, by cuDNN."""
    return (
        isinstance(network, Network)
        and can_fuse_convolutions(network, device)
        and network.config.channels % _MULTIPLE == 0
        and has_gpu_bf16()
    )


def fused_output(
    network: Any, planes: Tensor, dtype: torch.dtype, extra: ExtraHeads | None = None
) -> Output:
    """The output of a residual network without pooling for observations [B, *shape], in `dtype`.

    Of dense heads, the last layer of the value head and what follows are computed in the type of
    the weights, which the gradients have too; other heads are computed in `dtype`. The readers of
    extra heads are one convolution. Nothing waits for the device, so that a CUDA graph can capture
    it.
    """
    stem, blocks = network.body[0], list(network.body)[2:]
    x = planes.to(dtype, memory_format=torch.channels_last)
    ones = torch.ones((1, len(x)), dtype=dtype, device=x.device)
    layers = [layer for block in blocks for layer in (block.first, block.second)]
    read_weight, read_bias = _joined_readers((network.policy, network.value))
    learned = [stem.weight, *(layer.weight for layer in layers)]
    is_dense = has_dense_heads(network.config)
    learned += [read_weight, *([_filled_heads(network)] if is_dense else [])]
    extra_weight, extra_bias = _joined_readers(extra.values()) if extra else (None, None)
    learned += [] if extra_weight is None else [extra_weight]
    weights = iter(_apply(_Cast, dtype, *learned))
    x = _apply(_Convolve, x, next(weights), stem.bias, None, ones)
    for block in blocks:
        inner = _apply(_Convolve, x, next(weights), block.first.bias, None, ones)
        x = _apply(_Convolve, inner, next(weights), block.second.bias, x, ones)
    read = _apply(_Convolve, x, next(weights), read_bias, None, ones)
    in_dtype = torch.autocast(
        x.device.type, dtype, enabled=dtype != stem.weight.dtype, cache_enabled=False
    )
    if is_dense:
        output = _finish(network, functional.linear(_rows(read), next(weights)))
    else:
        with in_dtype:
            logits, values = answer_heads(network, read)
        output = network.finish(logits.to(stem.weight.dtype), values.to(stem.weight.dtype))
    if not extra:
        return output
    read = _apply(_Convolve, x, next(weights), extra_bias, None, ones)
    with in_dtype:
        return output._replace(extras=extra.answer(read))


def _joined_readers(heads: Iterable[Any]) -> list[Tensor]:
    """Weight and bias of the heads' readers as one convolution."""
    readers = [head.reader for head in heads]
    return [torch.cat([getattr(reader, name) for reader in readers]) for name in ("weight", "bias")]


class _Convolve(torch.autograd.Function):
    """ReLU(weight ∗ x + bias + residual) [B, C, H, W], channels last; the residual may be None.

    The bias is in the type it is learned in, all else in that of x. `ones` is [1, B].
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, residual: Tensor | None, ones: Tensor
    ) -> Tensor:
        weight = weight.contiguous(memory_format=torch.channels_last)
        padding, cast = (weight.shape[2] // 2, weight.shape[3] // 2), bias.to(x.dtype)
        if not (x.is_cuda and x.dtype == torch.bfloat16):
            out = functional.conv2d(x, weight, cast, padding=padding)
            out = functional.relu(out if residual is None else out + residual)
        elif residual is None:
            out = convolve_relu(_fill(x), _fill(weight), cast, padding)
        else:
            out = convolve_add_relu(x, weight, residual, cast, padding)
        ctx.save_for_backward(x, weight, out, ones)
        ctx.padding, ctx.has_residual = padding, residual is not None
        return out

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, out, ones = ctx.saved_tensors
        given = given.contiguous(memory_format=torch.channels_last)
        masked = relu_gradient(given, out)
        x_gradient, weight_gradient = convolution_gradients(
            masked, x, weight, ctx.padding, wants_x=ctx.needs_input_grad[0]
        )
        residual_gradient = masked if ctx.has_residual else None
        return x_gradient, weight_gradient, _sum_by_channel(masked, ones), residual_gradient, None


class _Cast(torch.autograd.Function):
    """Casts tensors, and their gradients on the way back, with one kernel each."""

    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.dtype = tensors[0].dtype
        return _cast(tensors, dtype)

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        return None, *_cast(given, ctx.dtype)


def _apply(function: type[torch.autograd.Function], *inputs: Any) -> Any:
    return function.apply(*inputs)  # type: ignore[no-untyped-call]


def _cast(tensors: tuple[Tensor, ...], dtype: torch.dtype) -> tuple[Tensor, ...]:
    made = tuple(torch.empty_like(tensor, dtype=dtype) for tensor in tensors)
    copy_all(made, tensors)  # one kernel, since all lie as their copies do
    return made


def _fill(x: Tensor) -> Tensor:
    """Pads the channels with zeros to a multiple that tensor cores need, channels last.

    Forward only: cuDNN takes 15 times as long for the gradient of a padded stem.
    """
    missing = -x.shape[1] % _MULTIPLE
    if not missing:
        return x
    filled = functional.pad(x, (0, 0, 0, 0, 0, missing))
    return filled.contiguous(memory_format=torch.channels_last)


def _sum_by_channel(x: Tensor, ones: Tensor) -> Tensor:
    """[C] the sums of [B, C, H, W]; in float32 for bfloat16 on a GPU.

    The product leaves [H · W, C] to be summed: with fewer columns it would not occupy a GPU.
    """
    rows, is_bf16 = _rows(x), x.is_cuda and x.dtype == torch.bfloat16
    sums = multiply_to_float32(ones, rows) if is_bf16 else torch.mm(ones, rows)
    return sums.view(-1, x.shape[1]).sum(0)


def _rows(x: Tensor) -> Tensor:
    """[B, H · W · C] of [B, C, H, W]; a view, since channels lie last."""
    return x.permute(0, 2, 3, 1).reshape(len(x), -1)


def _filled_heads(network: Any) -> Tensor:
    """[A + hidden units + padding, cells · both heads' channels] the linear layers in one."""
    joined = join_heads(network, network.policy.reader.out_channels)
    return functional.pad(joined, (0, 0, 0, -len(joined) % _MULTIPLE))


def _finish(network: Any, both: Tensor) -> Output:
    """The output, from the product with `_filled_heads`."""
    biases = network.policy[-1].bias, network.value[-3].bias
    actions, hidden = len(biases[0]), len(biases[1])
    both = both[:, : actions + hidden] + torch.cat(biases)  # in the type of the biases
    values = network.value[-1](functional.relu(both[:, actions:]))
    return Output(*network.finish(both[:, :actions], values))
