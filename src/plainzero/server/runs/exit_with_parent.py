"""`python -m …runs.exit_with_parent train …`: `plainzero train …` that exits with its parent.

Its standard input is a pipe to which nobody writes. The pipe closes when the parent exits, for
whatever reason, and this process then sends itself SIGTERM. The kernel's own signal at a parent's
death would not do: it is sent when the *thread* exits that started the process.
"""

import os
import runpy
import threading

from plainzero.operating_system import terminate_this_process

_STANDARD_INPUT = 0


def run_until_parent_exits() -> None:
    """Runs the command line in this process until the standard input is closed."""
    pipe = os.dup(_STANDARD_INPUT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STANDARD_INPUT)
    os.close(nothing)
    threading.Thread(target=_exit_after, args=(pipe,), daemon=True).start()
    runpy.run_module("plainzero.cli", run_name="__main__", alter_sys=True)


def _exit_after(pipe: int) -> None:
    """Waits until the pipe is closed, then asks this process to save and exit."""
    while os.read(pipe, 1024):
        pass
    terminate_this_process()


if __name__ == "__main__":
    run_until_parent_exits()
