"""What scripts that run `plainzero` commands share."""

import subprocess
import sys
import time

_START = time.monotonic()


def plainzero(*arguments: str) -> str:
    """What a command prints.

    Raises:
        RuntimeError: if it fails.
    """
    command = [sys.executable, "-m", "plainzero.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()[-500:]}")
    return done.stdout


def say(line: str) -> None:
    print(f"{time.monotonic() - _START:6.0f} s  {line}", flush=True)
