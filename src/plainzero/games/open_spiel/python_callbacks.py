"""Python functions that compiled rules can call, with integers in and one integer out.

Compiled code calls such a function by a symbol, which the linker resolves in each process. So code
from the disk cache finds the function of the process that loads it, whereas an address in the code
would belong to another process. A call holds the GIL, which kernels release while they run; calls
may come from any thread.
"""

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba import types
from numba.extending import models, register_model

FAILED = -(2**62)
"""Returned by a function that raised: rules then raise that error, through `checked`."""

_errors = threading.local()  # what the last failed call of this thread raised


class CallFailed(RuntimeError):
    """The error of a Python function, in compiled code, which can raise only constants.

    No instance exists: its constructor raises the original error, Ctrl-C included.
    """

    def __init__(self) -> None:
        """Raises what the last failed call of this thread raised."""
        error, _errors.last = _errors.last, None
        raise error


class PythonFunction(types.ExternalFunction):
    """A function for rules to call, compiled or not.

    Args:
        symbol: its name for the linker; no other function may have it.
        function: takes `arity` integers, addresses among them, and returns one.
        arity: the number of its arguments.
    """

    def __init__(self, symbol: str, function: Callable[..., int], arity: int) -> None:  # noqa: D107
        super().__init__(symbol, types.int64(*[types.int64] * arity))
        self._guarded = _guard(function)
        # Referenced here, because ctypes frees the machine code of an unreferenced function.
        self._entry = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arity)(self._guarded)
        llvm.add_symbol(symbol, ctypes.cast(self._entry, ctypes.c_void_p).value)

    def __call__(self, *arguments: Any) -> int:
        """Calls it from rules that run in plain Python."""
        return self._guarded(*map(int, arguments))


register_model(PythonFunction)(models.OpaqueModel)


def checked(answer: int) -> int:
    """What a Python function returned, for the rules that called it.

    Raises:
        Exception: whatever the function raised.
    """
    if answer == FAILED:
        raise CallFailed
    return answer


def _guard(function: Callable[..., int]) -> Callable[..., int]:
    """The function with FAILED in place of an error, which is stored for `CallFailed`."""

    def call(*arguments: int) -> int:
        try:
            return function(*arguments)
        except BaseException as error:  # Ctrl-C too: machine code would lose it
            _errors.last = error
            return FAILED

    return call
