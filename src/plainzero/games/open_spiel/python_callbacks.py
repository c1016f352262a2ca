"""Python functions that compiled rules can call, with whole numbers in and one out.

Compiled code calls such a function by a symbol, which the linker resolves in each process: so code
from the disk cache finds the function of the process that loads it, where an address in the code
would be that of another. A call takes the GIL, which kernels give up while they run, for as long
as it lasts; calls may come from any thread.
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
    """Stands for what a Python function raised, in compiled code, which can raise only constants.

    Nobody gets to see one: to make one raises the error itself, Ctrl-C's included.
    """

    def __init__(self) -> None:
        """Raises what the last failed call of this thread raised."""
        error, _errors.last = _errors.last, None
        raise error


class PythonFunction(types.ExternalFunction):
    """A function for rules to call, compiled or not.

    Args:
        symbol: its name for the linker; no other function may have it.
        function: takes that many whole numbers, addresses among them, and returns one.
        arity: how many it takes.
    """

    def __init__(self, symbol: str, function: Callable[..., int], arity: int) -> None:  # noqa: D107
        super().__init__(symbol, types.int64(*[types.int64] * arity))
        self._guarded = _guard(function)
        # Held here: ctypes frees the machine code of a function that nothing refers to.
        self._entry = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arity)(self._guarded)
        llvm.add_symbol(symbol, ctypes.cast(self._entry, ctypes.c_void_p).value)

    def __call__(self, *arguments: Any) -> int:
        """Calls it from rules that run as they stand."""
        return self._guarded(*map(int, arguments))


register_model(PythonFunction)(models.OpaqueModel)


def checked(answer: int) -> int:
    """What a Python function returned, to rules that called it.

    Raises:
        Exception: whatever the function raised.
    """
    if answer == FAILED:
        raise CallFailed
    return answer


def _guard(function: Callable[..., int]) -> Callable[..., int]:
    """The function with FAILED in place of an error, which is kept for `CallFailed` to tell."""

    def call(*arguments: int) -> int:
        try:
            return function(*arguments)
        except BaseException as error:  # Ctrl-C too: none must be lost in machine code
            _errors.last = error
            return FAILED

    return call
