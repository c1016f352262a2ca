"""Every private operator of PyTorch that is called anywhere, each with a public replacement.

Private operators change without notice. One that is missing, or takes other arguments than those
listed in `OPERATORS`, is replaced by public operators: same result, slower. The operators for 8-bit
integers are also tried once, because a build may have them without being able to run them.
"""

import functools
import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn import grad as torch_gradients

OLDEST_TORCH = (2, 4)
"""The oldest version that works: the first with `torch.optim.AdamW(fused=True)` on a CPU."""

OPERATORS = {
    "aten._foreach_copy_.default": "self src",
    "aten._foreach_lerp_.Scalar": "self tensors1 weight",
    "aten._foreach_add_.List": "self other",
    "aten._foreach_add_.Scalar": "self scalar",
    "aten._foreach_mul_.Tensor": "self other",
    "aten._foreach_sub.List": "self other",
    "aten._fused_adamw_.tensor_lr": "self grads exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps "
    "lr beta1 beta2 weight_decay eps amsgrad maximize",
    "aten._fused_sgd_.tensor_lr": "self grads momentum_buffer_list weight_decay momentum lr "
    "dampening nesterov maximize is_first_step",
    "aten.convolution_backward.default": "grad_output input weight bias_sizes stride padding "
    "dilation transposed output_padding groups output_mask",
    "aten.cudnn_convolution_add_relu.default": "self weight z alpha bias stride padding dilation "
    "groups",
    "aten.cudnn_convolution_relu.default": "self weight bias stride padding dilation groups",
    "aten.mm.dtype": "self mat2 out_dtype",
    "aten.threshold_backward.default": "grad_output self threshold",
    "onednn.qconv2d_pointwise.binary": "qx x_scale x_zero_point qw w_scale w_zero_point qaccum "
    "bias stride padding dilation groups output_scale output_zero_point output_dtype accum_scale "
    "accum_zero_point binary_attr alpha unary_attr unary_scalars unary_algorithm",
    "onednn.qconv2d_pointwise.default": "qx x_scale x_zero_point qw w_scale w_zero_point bias "
    "stride padding dilation groups output_scale output_zero_point output_dtype attr scalars "
    "algorithm",
    "onednn.qconv_prepack.default": "weight w_scales x_scale x_zp stride padding dilation groups",
}
"""The operators by name, with the required arguments that the calls below pass."""

Tensors = list[Tensor] | tuple[Tensor, ...]

_log = logging.getLogger("plainzero")
_ONE = [1, 1]


class OldTorch(ImportError):
    """The installed PyTorch is too old; the message says which version is needed."""


def check_version(version: str) -> None:
    """Refuses a PyTorch that is too old.

    Raises:
        OldTorch: if it is.
    """
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) < OLDEST_TORCH:
        oldest = ".".join(map(str, OLDEST_TORCH))
        raise OldTorch(
            f"PyTorch {version} is installed; PlainZero needs {oldest} or newer: "
            "pip install --upgrade torch"
        )


@functools.cache
def is_available(name: str) -> bool:
    """Whether PyTorch has the operator with the arguments that it is called with here."""
    namespace, operator, overload = name.split(".")
    try:
        schema: Any = getattr(getattr(getattr(torch.ops, namespace), operator), overload)._schema
        required = [each.name for each in schema.arguments if not each.has_default_value()]
    except (AttributeError, RuntimeError):
        required = []
    if required != OPERATORS[name].split():
        _log.info("PyTorch %s has no usable %s: using public ones", torch.__version__, name)
        return False
    return True


def copy_all(targets: Tensors, sources: Tensors) -> None:
    """Copies every tensor into its target; one kernel if all have the layout of their target."""
    if is_available("aten._foreach_copy_.default"):
        torch._foreach_copy_(targets, sources)
        return
    for target, source in zip(targets, sources, strict=True):
        target.copy_(source)


def lerp_all(averages: Tensors, targets: Tensors, share: float) -> None:
    """Moves every average towards its target by a share of the difference."""
    if is_available("aten._foreach_lerp_.Scalar"):
        torch._foreach_lerp_(averages, targets, share)
        return
    for average, target in zip(averages, targets, strict=True):
        average.lerp_(target, share)


def lerp_all_on_gpu(averages: Tensors, targets: Tensors, share: Tensor) -> None:
    """The same with a share in GPU memory."""
    names = ("aten._foreach_sub.List", "aten._foreach_mul_.Tensor", "aten._foreach_add_.List")
    if all(map(is_available, names)):
        gaps = torch._foreach_sub(targets, averages)
        torch._foreach_mul_(gaps, share)
        torch._foreach_add_(averages, gaps)
        return
    for average, target in zip(averages, targets, strict=True):
        average.add_((target - average) * share)


def sgd_step(
    parameters: Tensors,
    gradients: Tensors,
    buffers: Tensors,
    rate: Tensor,
    momentum: float,
    weight_decay: float,
) -> None:
    """One step of SGD, as `torch.optim.SGD` takes it; buffers begin at zero."""
    if is_available("aten._fused_sgd_.tensor_lr"):
        torch._fused_sgd_(
            parameters,
            gradients,
            buffers,
            weight_decay=weight_decay,
            momentum=momentum,
            lr=rate,
            dampening=0.0,
            nesterov=False,
            maximize=False,
            is_first_step=False,  # a first step copies the gradient: the same, from zero
        )
        return
    for parameter, gradient, buffer in zip(parameters, gradients, buffers, strict=True):
        buffer.mul_(momentum).add_(gradient).add_(parameter, alpha=weight_decay)
        parameter.sub_(rate * buffer)


class AdamState(NamedTuple):
    """What AdamW remembers of each parameter."""

    step: list[Tensor]
    exp_avg: list[Tensor]
    exp_avg_sq: list[Tensor]


def adamw_step(
    parameters: Tensors,
    gradients: Tensors,
    state: AdamState,
    rate: Tensor,
    betas: tuple[float, float],
    weight_decay: float,
    epsilon: float,
) -> None:
    """One step of AdamW, as `torch.optim.AdamW` takes it."""
    if is_available("aten._fused_adamw_.tensor_lr") and is_available("aten._foreach_add_.Scalar"):
        torch._foreach_add_(state.step, 1)
        torch._fused_adamw_(
            parameters,
            gradients,
            state.exp_avg,
            state.exp_avg_sq,
            [],
            state.step,
            amsgrad=False,
            lr=rate,
            beta1=betas[0],
            beta2=betas[1],
            weight_decay=weight_decay,
            eps=epsilon,
            maximize=False,
        )
        return
    for parameter, gradient, step, mean, square in zip(parameters, gradients, *state, strict=True):
        step.add_(1)
        parameter.mul_(1 - rate * weight_decay)
        mean.lerp_(gradient, 1 - betas[0])
        square.mul_(betas[1]).addcmul_(gradient, gradient, value=1 - betas[1])
        deviation = (square / (1 - betas[1] ** step)).sqrt() + epsilon
        parameter.sub_(rate / (1 - betas[0] ** step) * mean / deviation)


def convolve_relu(x: Tensor, weight: Tensor, bias: Tensor, padding: Sequence[int]) -> Tensor:
    """ReLU(weight ∗ x + bias) on a GPU."""
    if is_available("aten.cudnn_convolution_relu.default"):
        result: Tensor = torch.cudnn_convolution_relu(x, weight, bias, _ONE, padding, _ONE, 1)
        return result
    return functional.relu(functional.conv2d(x, weight, bias, padding=tuple(padding)))


def convolve_add_relu(
    x: Tensor, weight: Tensor, added: Tensor, bias: Tensor, padding: Sequence[int]
) -> Tensor:
    """ReLU(weight ∗ x + bias + added) on a GPU."""
    if is_available("aten.cudnn_convolution_add_relu.default"):
        result: Tensor = torch.cudnn_convolution_add_relu(
            x, weight, added, 1.0, bias, _ONE, padding, _ONE, 1
        )
        return result
    return functional.relu(functional.conv2d(x, weight, bias, padding=tuple(padding)) + added)


def multiply_to_float32(first: Tensor, second: Tensor) -> Tensor:
    """The float32 product of two bf16 matrices on a GPU."""
    if first.is_cuda and is_available("aten.mm.dtype"):
        return torch.mm(first, second, out_dtype=torch.float32)
    return first.float() @ second.float()


def relu_gradient(given: Tensor, output: Tensor) -> Tensor:
    """The gradient before a ReLU whose output is known."""
    if is_available("aten.threshold_backward.default"):
        result: Tensor = torch.ops.aten.threshold_backward(given, output, 0)
        return result
    return torch.where(output > 0, given, 0)


def convolution_gradients(
    given: Tensor, x: Tensor, weight: Tensor, padding: Sequence[int], wants_x: bool
) -> tuple[Tensor | None, Tensor]:
    """The gradients of a convolution's input, if wanted, and of its weight."""
    if is_available("aten.convolution_backward.default"):
        of_x, of_weight, _ = torch.ops.aten.convolution_backward(
            *(given, x, weight, None, _ONE, padding, _ONE, False, (0, 0), 1),
            [wants_x, True, False],
        )
        return of_x, of_weight
    gradient: Any = torch_gradients  # untyped
    pads = tuple(padding)
    of_x = gradient.conv2d_input(x.shape, weight, given, padding=pads) if wants_x else None
    of_weight = gradient.conv2d_weight(x, weight.shape, given, padding=pads)
    return of_x, of_weight


class Int8Weight(NamedTuple):
    """A convolution for unsigned 8-bit inputs."""

    weight: Tensor  # int8; packed by oneDNN if `is_packed`
    scales: Tensor  # [channels out] of the weights
    zero_points: Tensor  # [channels out], all zero
    bias: Tensor
    padding: list[int]
    step: float  # of the inputs
    is_packed: bool


def pack_int8(
    weight: Tensor, scales: Tensor, bias: Tensor, padding: list[int], step: float, shape: list[int]
) -> Int8Weight:
    """The convolution of inputs of that shape, packed for oneDNN if its operators work here."""
    zeros = torch.zeros(len(scales), dtype=torch.int32)
    is_packed = runs_int8()
    if is_packed:
        weight = _pack(weight, scales, padding, step, shape)
    return Int8Weight(weight, scales, zeros, bias, padding, step, is_packed)


def convolve_int8(convolution: Int8Weight, x: Tensor, output_step: float, has_relu: bool) -> Tensor:
    """The convolution of x, in unsigned steps of `output_step`; in float32 if that is 0."""
    if convolution.is_packed:
        return _convolve_packed(convolution, x, output_step, has_relu)
    result = _convolve_floats(convolution, x)
    result = functional.relu(result) if has_relu else result
    if not output_step:
        return result
    return (result / output_step).round_().clamp_(0, 255).to(torch.uint8)


def convolve_add_int8(convolution: Int8Weight, x: Tensor, stream: Tensor) -> Tensor:
    """ReLU(stream + convolution of x) in float32."""
    if convolution.is_packed:
        return _convolve_add_packed(convolution, x, stream)
    return functional.relu(stream + _convolve_floats(convolution, x))


@functools.cache
def runs_int8() -> bool:
    """Whether oneDNN's operators for 8-bit integers give the results of public ones here."""
    if not all(is_available(name) for name in OPERATORS if name.startswith("onednn.")):
        return False
    x = torch.arange(72, dtype=torch.uint8).reshape(1, 8, 3, 3)
    x = x.contiguous(memory_format=torch.channels_last)
    weight = (torch.arange(576).reshape(8, 8, 3, 3) % 9 - 4).to(torch.int8)
    zeros, scales, bias = torch.zeros(8, dtype=torch.int32), torch.full((8,), 0.1), torch.ones(8)
    plain = Int8Weight(weight, scales, zeros, bias, [1, 1], 0.01, is_packed=False)
    stream = torch.ones((1, 8, 3, 3)).contiguous(memory_format=torch.channels_last)
    try:
        packed = plain._replace(
            weight=_pack(weight, scales, [1, 1], 0.01, list(x.shape)), is_packed=True
        )
        pairs = [
            (convolve_int8(each, x, 0.0, False), convolve_add_int8(each, x, stream.clone()))
            for each in (plain, packed)
        ]
    except RuntimeError as error:
        _log.info("oneDNN's 8-bit convolutions do not run here: %s", error)
        return False
    return all(torch.allclose(a, b, atol=1e-4) for a, b in zip(*pairs, strict=True))


def _pack(
    weight: Tensor, scales: Tensor, padding: list[int], step: float, shape: list[int]
) -> Tensor:
    packed: Tensor = torch.ops.onednn.qconv_prepack(
        weight, scales, step, 0, _ONE, padding, _ONE, 1, shape
    )
    return packed


def _convolve_packed(
    convolution: Int8Weight, x: Tensor, output_step: float, has_relu: bool
) -> Tensor:
    weight, scales, zeros, bias, padding, step, _ = convolution
    result: Tensor = torch.ops.onednn.qconv2d_pointwise.default(
        *(x, step, 0, weight, scales, zeros, bias, _ONE, padding, _ONE, 1, output_step or 1.0, 0),
        torch.uint8 if output_step else torch.float32,
        *("relu" if has_relu else "none", [], ""),
    )
    return result


def _convolve_add_packed(convolution: Int8Weight, x: Tensor, stream: Tensor) -> Tensor:
    weight, scales, zeros, bias, padding, step, _ = convolution
    result: Tensor = torch.ops.onednn.qconv2d_pointwise.binary(
        *(x, step, 0, weight, scales, zeros, stream, bias, _ONE, padding, _ONE, 1, 1.0, 0),
        *(torch.float32, 1.0, 0, "sum", 1.0, "relu", [], ""),
    )
    return result


def _convolve_floats(convolution: Int8Weight, x: Tensor) -> Tensor:
    """The convolution in float32, which holds sums of 8-bit products exactly up to 2²⁴."""
    sums = functional.conv2d(x.float(), convolution.weight.float(), padding=convolution.padding[0])
    scales = (convolution.scales * convolution.step)[:, None, None]
    return sums * scales + convolution.bias[:, None, None]
