"""A residual network's output, to learn from: convolution, bias, sum and ReLU are one operation.

On a GPU in bfloat16 that is one call of cuDNN's, elsewhere several of PyTorch's; the backward is
the same. Bias gradients are matrix products: as sums they took a sixth of a step (H200, 4 x 64).
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from plainzero.networks.architectures import Network, Output
from plainzero.networks.gpu.cublas_heads import join_heads
from plainzero.networks.gpu.cudnn_network import can_be_fused
from plainzero.networks.network_evaluators import has_cuda_bf16

_TOGETHER = 8  # channels and columns: tensor cores want a multiple of these
_ONE = (1, 1)


def can_learn_fused(network: nn.Module, device: torch.device) -> bool:
    """Whether `fused_output` can compute the network there in bfloat16, by cuDNN."""
    return (
        isinstance(network, Network)
        and can_be_fused(network, device)
        and network.config.channels % _TOGETHER == 0
        and has_cuda_bf16()
    )


def fused_output(network: Any, planes: Tensor, dtype: torch.dtype) -> Output:
    """What a residual network without pooling says of observations [B, *shape], by way of `dtype`.

    The last layer of the value head and what follows it are computed in the type of the weights,
    to which gradients go. Nothing waits for the device: a CUDA graph can capture it.
    """
    stem, blocks = network.body[0], list(network.body)[2:]
    x = planes.to(dtype, memory_format=torch.channels_last)
    ones = torch.ones((1, len(x)), dtype=dtype, device=x.device)
    layers = [layer for block in blocks for layer in (block.first, block.second)]
    readers = network.policy[0], network.value[0]
    read_weight, read_bias = (
        torch.cat([getattr(reader, name) for reader in readers]) for name in ("weight", "bias")
    )
    learned = [stem.weight, *(layer.weight for layer in layers)]
    weights = iter(_apply(_Cast, dtype, *learned, read_weight, _filled_heads(network)))
    x = _apply(_Convolve, x, next(weights), stem.bias, None, ones)
    for block in blocks:
        inner = _apply(_Convolve, x, next(weights), block.first.bias, None, ones)
        x = _apply(_Convolve, inner, next(weights), block.second.bias, x, ones)
    read = _apply(_Convolve, x, next(weights), read_bias, None, ones)
    return _finish(network, functional.linear(_rows(read), next(weights)))


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
            out = torch.cudnn_convolution_relu(
                _fill(x), _fill(weight), cast, _ONE, padding, _ONE, 1
            )
        else:
            out = torch.cudnn_convolution_add_relu(
                x, weight, residual, 1.0, cast, _ONE, padding, _ONE, 1
            )
        ctx.save_for_backward(x, weight, out, ones)
        ctx.padding, ctx.has_residual = padding, residual is not None
        return out

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, out, ones = ctx.saved_tensors
        given = given.contiguous(memory_format=torch.channels_last)
        masked = torch.ops.aten.threshold_backward(given, out, 0)
        is_wanted = [ctx.needs_input_grad[0], True, False]
        x_gradient, weight_gradient, _ = torch.ops.aten.convolution_backward(
            masked, x, weight, None, _ONE, ctx.padding, _ONE, False, (0, 0), 1, is_wanted
        )
        residual_gradient = masked if ctx.has_residual else None
        return x_gradient, weight_gradient, _sum_by_channel(masked, ones), residual_gradient, None


class _Cast(torch.autograd.Function):
    """The tensors in a type, all by one kernel; and so their gradients on the way back."""

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
    torch._foreach_copy_(made, tensors)  # one kernel, since all lie as their copies do
    return made


def _fill(x: Tensor) -> Tensor:
    """Zeros as further channels up to a multiple that tensor cores take, channels last.

    Forward only: cuDNN takes 15 times as long for the gradient of a stem filled so.
    """
    missing = -x.shape[1] % _TOGETHER
    if not missing:
        return x
    filled = functional.pad(x, (0, 0, 0, 0, 0, missing))
    return filled.contiguous(memory_format=torch.channels_last)


def _sum_by_channel(x: Tensor, ones: Tensor) -> Tensor:
    """[C] the sums of [B, C, H, W]; those of bfloat16 on a GPU in float32.

    The product leaves [H · W, C] to be summed: with fewer columns it could not occupy a GPU.
    """
    rows, is_bf16 = _rows(x), x.is_cuda and x.dtype == torch.bfloat16
    sums = torch.mm(ones, rows, out_dtype=torch.float32) if is_bf16 else torch.mm(ones, rows)
    return sums.view(-1, x.shape[1]).sum(0)


def _rows(x: Tensor) -> Tensor:
    """[B, H · W · C] of [B, C, H, W]; a view, since channels lie last."""
    return x.permute(0, 2, 3, 1).reshape(len(x), -1)


def _filled_heads(network: Any) -> Tensor:
    """[A + hidden units + some zeros, cells · both heads' channels] the linear layers in one."""
    joined = join_heads(network, network.policy[0].out_channels)
    return functional.pad(joined, (0, 0, 0, -len(joined) % _TOGETHER))


def _finish(network: Any, both: Tensor) -> Output:
    """The output, from the product with `_filled_heads`."""
    biases = network.policy[-1].bias, network.value[-3].bias
    actions, hidden = len(biases[0]), len(biases[1])
    both = both[:, : actions + hidden] + torch.cat(biases)  # in the type of the biases
    values = network.value[-1](functional.relu(both[:, actions:]))
    return Output(*network.finish(both[:, :actions], values))
