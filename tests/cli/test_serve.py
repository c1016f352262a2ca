"""`plainzero serve` as a process: where it listens, which clients it accepts, how it stops."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from plainzero.cli.main import main
from plainzero.server.app import Server
from plainzero.server.options import ServerOptions
from plainzero.training.run_folder import RunFolder

pytestmark = pytest.mark.slow

NIM = ("examples/nim.py:Nim", "examples/nim.py")


@contextmanager
def serving(*arguments, cwd=None, end=signal.SIGINT, codes=(0, 130)):
    """A server and the address that it printed; the signal must end it, with one of the codes."""
    options = ["--port", "0", "--nice", "0"]  # at nice 10, training starves on a busy machine
    command = [sys.executable, "-m", "plainzero.cli", "serve", *options, *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=cwd, preexec_fn=_heed_hangups
    )
    try:
        line = process.stdout.readline()
        yield re.search(r"http://\S+", line)[0]
        process.send_signal(end)
        assert process.wait() in codes
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def _heed_hangups():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup


def ask(address, path, **headers):
    request = urllib.request.Request(address + path, headers=headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def wait_until(is_so):
    while not is_so():
        time.sleep(0.1)


@pytest.mark.parametrize("game", NIM)
def test_it_serves_a_game_from_a_file_first(game, tmp_path):
    with serving("--home", str(tmp_path), "--game", game) as address:
        about = ask(address, "/api/about")
        assert address.startswith("http://127.0.0.1:")
        assert about["default_game"] == "nim"
        assert about["can_train"] and about["default_run"] is None


def test_another_host_needs_a_token(tmp_path):
    with serving("--home", str(tmp_path), "--host", "0.0.0.0", "--no-training") as address:
        address, token = address.split("/?token=")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(address, "/api/about")
        about = ask(address, "/api/about", Authorization=f"Bearer {token}")
        assert not about["can_train"]


def test_train_learns_in_the_background(tmp_path):
    with serving("--train", "tic-tac-toe", "--minutes", "5", cwd=tmp_path) as address:
        runs = ask(address, "/api/runs")
        assert [run["game"] for run in runs] == ["tic-tac-toe"]
        assert runs[0]["state"] in ("starting", "running") and runs[0]["minutes"] == 5.0
    assert (tmp_path / "runs" / "tic-tac-toe").is_dir()


@pytest.mark.parametrize("end, code", [(signal.SIGHUP, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_training_ends_with_the_server_however_that_ends(end, code, tmp_path):
    folder = RunFolder(tmp_path / "runs" / "tic-tac-toe")
    arguments = ["--train", "tic-tac-toe", "--minutes", "5"]
    try:
        with serving(*arguments, cwd=tmp_path, end=end, codes=(code,)) as address:
            wait_until(lambda: ask(address, "/api/runs")[0]["state"] != "starting")
            assert ask(address, "/api/runs")[0]["state"] == "running"
        wait_until(lambda: not folder.is_locked())
    finally:
        if holder := folder.holder():
            os.kill(holder, signal.SIGKILL)


def test_an_address_that_a_client_claims_to_have_is_not_believed(tmp_path):
    clients = []

    async def note_client(scope, receive, send):
        clients.append(scope["client"][0])

    server = Server(ServerOptions(home=tmp_path, can_train=False))
    server.app = note_client
    config = server.configure()
    config.load()
    scope = {"type": "http", "client": ("127.0.0.1", 5), "scheme": "http", "path": "/"}
    headers = [(b"x-forwarded-for", b"203.0.113.7")]
    asyncio.run(config.loaded_app({**scope, "headers": headers}, None, None))
    server.services.close()
    assert clients == ["127.0.0.1"]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["no-such-folder"], "there is no run in no-such-folder"),
        (["docs"], "there is no run in docs"),
        (["--game", "chess"], "there is no game 'chess'"),
        (["--game", "missing.py:Game"], "there is no file 'missing.py'"),
        (["--train", "chess"], "there is no game 'chess'"),
        (["--host", "256.1.1.1"], "cannot listen on 256.1.1.1"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(arguments, sentence, capsys, tmp_path):
    assert main(["serve", "--port", "0", "--home", str(tmp_path), *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_a_port_that_is_taken_is_said_to_be(capsys, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["serve", "--port", port, "--home", str(tmp_path)]) == 2
    assert f"port {port} of 127.0.0.1 is in use" in capsys.readouterr().err
