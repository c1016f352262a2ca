"""Processes of other programs that are measured beside PlainZero."""

import contextlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from plainzero.cli.terminal.errors import BadInput

_SERVE_REQUESTS = Path(__file__).parent / "peers" / "answer_requests.py"
_PATIENCE = 10.0  # seconds that a peer has to end by itself


def require_python(python: Path) -> None:
    """Refuses a Python of the peers that cannot be run.

    Raises:
        BadInput: naming the option.
    """
    if shutil.which(python) is None:
        raise BadInput(
            f"--peers-python {python} cannot be run; give the path of the Python that has the "
            "peers installed, or leave it out"
        )


class RequestPeer:
    """A module of the folder peers that answers requests, in a process of its own."""

    def __init__(self, module: str, python: Path, install: str) -> None:
        """Starts the process and waits until it is ready; `install` is what pip needs to get it."""
        self.missing = ""
        """Why it cannot answer and what to do, or nothing."""
        self._said = tempfile.TemporaryFile("w+", errors="replace")
        self._process: Any = subprocess.Popen(
            [str(python), str(_SERVE_REQUESTS), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )
        answer = self._read()
        self.versions: dict[str, str] = answer.get("ready", {})
        self.device: str = answer.get("device", "")
        self.platform: str = answer.get("platform", "")
        if "missing" in answer:
            self.missing = f"not installed ({answer['missing']}): pip install {install}"
        elif "failed" in answer:
            self.missing = f"failed: {answer['failed']}"

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the peer answers; `failed` says why where it could not."""
        with contextlib.suppress(BrokenPipeError):  # it has ended; reading says why
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        """Ends the process."""
        end_process(self._process)
        self._said.close()

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._said.seek(0)
        last = self._said.read().strip().rpartition("\n")[2]
        return {"failed": f"its process ended ({last or 'without a word'})"}


def end_process(process: Any) -> None:
    """Closes a peer's stdin, which tells it to end; kills it where it does not."""
    with contextlib.suppress(BrokenPipeError):  # it has ended before it was told all
        process.stdin.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
