"""`python -m plainzero.server.runs.exit_with_parent train …` is `plainzero train …`, ended when its starter is gone.

Its standard input is a pipe to which nobody writes: it ends when the process that holds the other
side does, however that comes about, and then this one is asked to end as by SIGTERM. The kernel's
own signal at a parent's death does not do: it comes when the *thread* ends that started a process.
"""

import os
import runpy
import signal
import threading

_STANDARD_INPUT = 0


def run_leashed() -> None:
    """Runs the command line in this process while the standard input is open."""
    leash = os.dup(_STANDARD_INPUT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STANDARD_INPUT)
    os.close(nothing)
    threading.Thread(target=_end_with, args=(leash,), daemon=True).start()
    runpy.run_module("plainzero.cli", run_name="__main__", alter_sys=True)


def _end_with(leash: int) -> None:
    """Waits for the pipe's end, then asks this process to save and to end."""
    while os.read(leash, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    run_leashed()
