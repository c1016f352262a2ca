"""Processes of other programs that PlainZero is compared with."""

import contextlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

_ANSWER_REQUESTS = Path(__file__).parent / "peers" / "answer_requests.py"
_EXIT_SECONDS = 10.0  # after which a peer that does not exit is killed


def require_python(python: Path) -> None:
    """Checks that the peers' Python can be run.

    Raises:
        ValueError: if it cannot.
    """
    if shutil.which(python) is None:
        raise ValueError(
            f"cannot run --peers-python {python}; give the path of a Python with the peers "
            "installed, or omit the option"
        )


class RequestPeer:
    """A module of the folder `peers` that answers requests in a separate process."""

    def __init__(self, module: str, python: Path, install: str) -> None:
        """Starts the process and waits until it is ready; `install` lists its packages for pip."""
        self.missing = ""
        """Why the peer cannot answer and what to do; empty if it can."""
        self._stderr = tempfile.TemporaryFile("w+", errors="replace")
        self._process: Any = subprocess.Popen(
            [str(python), str(_ANSWER_REQUESTS), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
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
        """The peer's answer, or `failed` with the reason."""
        with contextlib.suppress(BrokenPipeError):  # the process exited; _read reports why
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        return self._read()

    def close(self) -> None:
        """Stops the process."""
        stop_process(self._process)
        self._stderr.close()

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._stderr.seek(0)
        last = self._stderr.read().strip().rpartition("\n")[2]
        return {"failed": f"its process exited ({last or 'no error message'})"}


def stop_process(process: Any) -> None:
    """Closes a peer's stdin, upon which it exits; kills it if it does not."""
    with contextlib.suppress(BrokenPipeError):  # the process exited with unread input
        process.stdin.close()
    try:
        process.wait(_EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
