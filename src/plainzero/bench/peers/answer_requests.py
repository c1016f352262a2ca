"""Answers requests with a peer's measurements, one at a time, on the device that the peer finds.

Usage: `python answer_requests.py MODULE`. The first line on stdout is `{"ready": versions}` with a
description of the device, `{"missing": reason}` or `{"failed": reason}`. Each line on stdin is a
request in JSON, answered by one line of JSON: the module's measurement or `{"failed": reason}`,
with the versions and the device. The process exits at the end of stdin.
"""

import importlib
import importlib.metadata
import json
import os
import sys
from typing import Any, TextIO


def main(module: str) -> None:
    """Runs one peer."""
    # JAX allocates memory on demand, so that PlainZero's process can share the GPU.
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    answers, sys.stdout = sys.stdout, sys.stderr  # keeps the peer's own output out of the answers
    try:
        peer = importlib.import_module(module)
    except ImportError as error:
        _answer(answers, {"missing": str(error)})
        return
    try:
        found = {name: importlib.metadata.version(name) for name in peer.PACKAGES}
        device = peer.describe_device()
    except Exception as error:
        _answer(answers, _failed(error))
        return
    _answer(answers, {"ready": found, **device})
    for line in sys.stdin:
        try:
            measured = peer.measure(json.loads(line))
        except Exception as error:
            measured = _failed(error)
        _answer(answers, {**measured, "versions": found, **device})


def _failed(error: Exception) -> dict[str, str]:
    return {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}


def _answer(answers: TextIO, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
