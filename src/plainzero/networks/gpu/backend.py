"""A network on a GPU: for callers with NumPy arrays, and for searches that live on the same GPU.

Which form evaluates it is measured once for each kind of GPU, network and batch, and remembered.
"""

import functools
import hashlib
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plainzero.atomic_files import write_whole
from plainzero.games.contract import Game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.gpu.cudnn_network import (
    EagerForm,
    Form,
    FusedForm,
    TwoStepForm,
    can_be_fused,
    tuned_convolutions,
)
from plainzero.networks.gpu.fused_network import TowerForm, make_tower_form, takes_tower

Floats = NDArray[np.float32]

TOLERANCE = 0.02
"""Root mean square by which bfloat16 may differ from float32, in logits and in values."""

_log = logging.getLogger("plainzero")
_MOST_AT_ONCE = 16_384  # positions of one call with NumPy arrays
_TIMED_CALLS = 20
_BEFORE_OTHERS = -1  # priority of a stream; 0 is the lowest


class CudaEvaluator:
    """See `NetworkEvaluator`; `device_batch` is for searches on the GPU (see `DeviceBatch`)."""

    def __init__(
        self,
        network: nn.Module,
        game: Game,
        device: torch.device | str = "cuda",
        is_bf16: bool = True,
        rows: int = _MOST_AT_ONCE,
    ) -> None:
        """Copies the network, and finds out what evaluates batches of `rows` fastest."""
        self.engine = "cuda-bf16" if is_bf16 else "cuda-float32"
        self.game, self.device = game, _numbered(torch.device(device))
        dtype = torch.bfloat16 if is_bf16 else torch.float32
        self.form = _choose_form(network, game, self.device, dtype, rows)

    def load(self, network: nn.Module) -> None:
        """Takes the weights of a network of the same shape; recorded graphs use them too."""
        with torch.no_grad():
            self.form.load(network)

    def __call__(self, planes: Floats) -> tuple[Floats, Floats]:
        """Logits and values of observations."""
        parts = [
            self._evaluate(planes[first : first + _MOST_AT_ONCE])
            for first in range(0, len(planes), _MOST_AT_ONCE)
        ]
        logits, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        return logits, values if values.shape[1] > 1 else values[:, 0]

    @property
    def at_once(self) -> int:
        """See `DeviceBatch`."""
        return self.form.at_once

    def device_batch(self, rows: int) -> "CudaBatch":
        """Room for that many leaves, and this network."""
        return CudaBatch(self.form, self.game, rows, self.device)

    def _evaluate(self, planes: Floats) -> tuple[Floats, Floats]:
        with torch.inference_mode():
            logits, values = self.form(torch.from_numpy(planes).to(self.device))
            return logits.cpu().numpy(), values.cpu().numpy()


def _numbered(device: torch.device) -> torch.device:
    """The device with its number: plain cuda is the one in use."""
    if device.type != "cuda" or device.index is not None:
        return device
    return torch.device("cuda", torch.cuda.current_device())


class CudaBatch:
    """See `DeviceBatch`."""

    def __init__(self, form: Form, game: Game, rows: int, device: torch.device) -> None:
        """Takes the room."""
        self._form, self._device = form, device
        self._side: Any = _new_stream(device) if device.type == "cuda" else None
        self._apart: bool | None = None  # whether what is done apart is part of a graph, if any is
        with torch.no_grad():
            self.planes = torch.zeros((rows, *game.observation_shape), device=device)
            answers = form(self.planes)
            self._room = form.make_room(rows) if isinstance(form, TwoStepForm) else None
        self.logits, self.values = (torch.zeros_like(answer) for answer in answers)

    def run(self) -> None:
        """Reads all rows; a form of one step also answers."""
        with torch.no_grad():
            if isinstance(self._form, TwoStepForm):
                self._form.read(self.planes, self._room)
                return
            logits, values = self._form(self.planes)
            self.logits.copy_(logits)
            self.values.copy_(values)

    def answer(self) -> None:
        """Answers what was read; see `DeviceBatch`."""
        if isinstance(self._form, TwoStepForm):
            with torch.no_grad():
                self._form.answer(self._room, self.logits, self.values)

    def stream(self) -> int:
        """The stream on which PyTorch works now."""
        if self._device.type != "cuda":
            return 0
        return int(torch.cuda.current_stream(self._device).cuda_stream)

    def apart(self, work: Callable[[], object]) -> None:
        """Does `work` on another stream; see `DeviceBatch`."""
        if self._device.type != "cuda":
            work()
            return
        self._apart = torch.cuda.is_current_stream_capturing()
        self._side.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._side):
            work()

    def join(self) -> None:
        """Waits for that stream; see `DeviceBatch`."""
        # A graph knows of no work before it, such as that which an error left behind.
        if self._apart is not None and self._apart == torch.cuda.is_current_stream_capturing():
            torch.cuda.current_stream(self._device).wait_stream(self._side)
        self._apart = None

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """What does `work` again and again, as one graph; off the GPU, `work` itself."""
        return record(work, self._device)


def record(work: Callable[[], None], device: torch.device) -> Callable[[], None]:
    """A graph of all that `work` starts on the GPU, to be replayed; off the GPU, `work` itself."""
    if device.type != "cuda":
        return work
    graph, stream = torch.cuda.CUDAGraph(), _recording_stream(device)
    torch.cuda.synchronize(device)
    # Relaxed, because Numba may free memory meanwhile, which is no part of the graph.
    with torch.cuda.graph(graph, stream=stream, capture_error_mode="relaxed"):
        work()
    return graph.replay


@functools.cache
def _recording_stream(device: torch.device) -> Any:
    """One for all: cuBLAS keeps memory for every stream on which it was recorded."""
    return _new_stream(device, _BEFORE_OTHERS)


def _new_stream(device: torch.device, priority: int = 0) -> Any:
    make_stream: Any = torch.cuda.Stream
    return make_stream(device, priority=priority)


def _choose_form(
    network: Any, game: Game, device: torch.device, dtype: torch.dtype, rows: int
) -> Form:
    """The fastest form of those that can evaluate the network, remembered from an earlier time."""
    makers = _makers(network, device, dtype, rows)
    if len(makers) == 1:
        return makers[EagerForm.name](network)
    key = _key(network, game, device, rows)
    name = _remembered().get(key, "")
    if name not in makers:
        planes = torch.rand((rows, *game.observation_shape), device=device)
        name = _fastest(makers, draw_zeros(make_network(game, network.config, 0)), planes)
        _remember(key, name)
    if name != TowerForm.name:  # its calls of cuDNN find the fastest algorithms, once for each kind
        torch.backends.cudnn.benchmark = True
    return makers[name](network)


def _makers(
    network: Any, device: torch.device, dtype: torch.dtype, rows: int
) -> dict[str, Callable[[Any], Form]]:
    """What makes each form that can evaluate the network, by name; PyTorch's own is the last."""
    makers: dict[str, Callable[[Any], Form]] = {}
    if dtype == torch.bfloat16 and can_be_fused(network, device):
        if takes_tower(network, device):
            makers[TowerForm.name] = lambda network: make_tower_form(network, device, rows)
        makers[FusedForm.name] = lambda network: FusedForm(network, device)
    makers[EagerForm.name] = lambda network: EagerForm(network, device, dtype)
    return makers


def _fastest(makers: dict[str, Callable[[Any], Form]], drawn: Any, planes: Tensor) -> str:
    """The form that takes least time, of those that agree with float32; else PyTorch's own.

    PyTorch's own is not timed where there is another: it starts the same convolutions, and more.
    Weights are drawn, whatever the network's are: the zeros that a new one begins with hide what is
    wrong, and what a trained one says of random planes, which are none of its game, is so large
    that bfloat16 alone is off by four times the tolerance.
    """
    seconds: dict[str, float] = {}
    with torch.no_grad():
        expected = EagerForm(drawn, planes.device, torch.float32)(planes)
        for name, make in makers.items():
            if name == EagerForm.name and seconds:
                continue
            try:
                form = make(drawn)
            except (RuntimeError, ValueError, ImportError) as error:
                _log.warning("the network's form %s cannot be had here: %s", name, error)
                continue
            gaps = [a - b for a, b in zip(form(planes), expected, strict=True)]
            worst = max(float(gap.square().mean().sqrt()) for gap in gaps)
            if worst <= TOLERANCE:
                with tuned_convolutions():
                    seconds[name] = _time(form, planes)
            else:
                _log.warning("the network's form %s is off by %.3g here: not used", name, worst)
    return min(seconds, key=lambda name: seconds[name], default=EagerForm.name)


def _time(form: Form, planes: Tensor) -> float:
    """Milliseconds of a call, as part of a graph."""

    def call() -> None:
        form(planes)

    with torch.no_grad():
        call()
        again = record(call, planes.device)
        make_event: Any = torch.cuda.Event
        start, end = make_event(enable_timing=True), make_event(enable_timing=True)
        again()
        start.record()
        for _ in range(_TIMED_CALLS):
            again()
        end.record()
        end.synchronize()
    return float(start.elapsed_time(end)) / _TIMED_CALLS


def _key(network: Any, game: Game, device: torch.device, rows: int) -> str:
    """What the choice depends on."""
    about = (
        torch.cuda.get_device_name(device),
        torch.__version__,
        network.config,
        tuple(game.observation_shape),
        game.num_actions,
        rows,
        _digest_of_kernels(),
    )
    return " | ".join(map(str, about))


@functools.cache
def _digest_of_kernels() -> str:
    """Of the sources that a choice was made of."""
    folder = Path(__file__).parent
    kinds = ("*.cu", "*.py")
    sources = sorted(path for kind in kinds for path in folder.glob(kind))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def _memory_file() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "plainzero" / "gpu_forms.json"


def _remembered() -> dict[str, str]:
    try:
        found = json.loads(_memory_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(key: str, name: str) -> None:
    try:
        _memory_file().parent.mkdir(parents=True, exist_ok=True)
        known = {**_remembered(), key: name}
        write_whole(_memory_file(), json.dumps(known, indent=1).encode())
    except OSError:
        return  # then it is measured again the next time
