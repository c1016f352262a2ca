"""A peer that answers requests in this process, one after the other, on whatever device it finds.

Started as `python serve_requests.py MODULE`. The first line on stdout is `{"ready": versions}` with
what the module says of the device, or `{"missing": why}` or `{"failed": why}`. Each line on stdin
is a request in JSON, answered by a line of JSON: what the module measured, or `{"failed": why}`,
again with the versions and the device. The end of stdin ends the process.
"""

import importlib
import importlib.metadata
import json
import os
import sys
from typing import Any


def main(module: str) -> None:
    """Serves one peer."""
    # Memory is taken when needed, so that the device can be shared with PlainZero's process.
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    answers, sys.stdout = sys.stdout, sys.stderr  # what the peer prints is no answer
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


def _answer(answers: Any, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
