"""Runs a program with Numba's simulator of a GPU in place of the compiler."""

import os
import subprocess
import sys

import pytest

_NUMPY_25 = "ignore::DeprecationWarning:numba.cuda.np.npdatetime_helpers"  # numba-cuda's own


def simulate(program, *arguments):
    """The program's output. Any warning, or any output on stderr, fails the test."""
    pytest.importorskip("numba_cuda", reason="needs numba-cuda, for its simulator")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", _NUMPY_25, program, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
