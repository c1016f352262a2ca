"""A search, a short training, a server and an engine on a system that lacks what Linux has.

`python portable_program.py macos|windows FOLDER` prints what each of them found, as JSON. Calls
that the system lacks are taken from Python's modules; imports that it lacks, from our modules
alone, since libraries have their own code for each system.
"""

import builtins
import fcntl
import importlib
import io
import json
import os
import select
import selectors
import signal
import socket
import stat
import sys
import threading
import types
import urllib.request
from pathlib import Path

MISSING = {
    "macos": {os: ["sched_getaffinity", "sched_setaffinity", "waitid"]},
    "windows": {
        os: [
            *("fork", "forkpty", "getpgid", "getpriority", "getsid", "getuid", "killpg", "nice"),
            *("posix_spawn", "sched_getaffinity", "sched_setaffinity", "set_blocking"),
            *("setpriority", "setsid", "sysconf", "waitid"),
        ],
        select: ["poll", "epoll"],
        selectors: ["PollSelector", "EpollSelector"],
        signal: ["SIGHUP", "SIGUSR1", "pthread_kill"],
    },
}
MISSING_MODULES = {"macos": set(), "windows": {"fcntl", "resource", "pwd", "grp", "termios"}}
LOCKED = 1 << 20  # a lock of Windows hides what it covers: it must lie beyond any text


def become(system):
    """Removes from Python what the system lacks."""
    # Libraries that check for their system when they are imported.
    for name in ("asyncio", "subprocess", "multiprocessing.connection", "multiprocessing.util"):
        importlib.import_module(name)
    for name in ("torch", "pyarrow", "uvicorn"):
        importlib.import_module(name)
    for module, names in MISSING[system].items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    hide_proc(opens_folders=system != "windows")
    if system == "windows":
        msvcrt = types.ModuleType("msvcrt")
        msvcrt.LK_NBLCK, msvcrt.LK_UNLCK, msvcrt.locking = 2, 0, lock_as_windows
        sys.modules["msvcrt"] = msvcrt
        selectors.DefaultSelector = selectors.SelectSelector = SocketSelector
        select.select = select_sockets
        os.environ["USERNAME"] = "somebody"
    find = builtins.__import__

    def find_there(name, variables=None, *rest, **options):
        importer = (variables or {}).get("__name__", "")
        if name in MISSING_MODULES[system] and importer.startswith("plainzero"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return find(name, variables, *rest, **options)

    builtins.__import__ = find_there


def lock_as_windows(descriptor, mode, size):
    """Locks a file as `msvcrt.locking` does."""
    assert os.lseek(descriptor, 0, os.SEEK_CUR) >= LOCKED and size == 1
    kinds = {2: fcntl.LOCK_EX | fcntl.LOCK_NB, 0: fcntl.LOCK_UN}
    fcntl.flock(descriptor, kinds[mode])


SELECT = select.select


class SocketSelector(selectors.SelectSelector):
    """Refuses pipes, as selectors do on Windows."""

    def register(self, file, events, data=None):
        require_socket(file)
        return super().register(file, events, data)


def select_sockets(*arguments):
    """`select.select` of Windows, which refuses pipes."""
    for files in arguments[:3]:
        for file in files:
            require_socket(file)
    return SELECT(*arguments)


def require_socket(file):
    descriptor = file if isinstance(file, int) else file.fileno()
    if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        raise OSError(10038, "An operation was attempted on something that is not a socket")


def hide_proc(opens_folders):
    """Makes everything below /proc missing, and folders impossible to open."""

    def refuse(path):
        if isinstance(path, str | Path) and str(path).startswith("/proc"):
            raise FileNotFoundError(2, "No such file or directory", str(path))

    def guarded(function, is_open=False):
        def call(path, *arguments, **options):
            refuse(path)
            if is_open and not opens_folders and os.path.isdir(path):
                raise PermissionError(13, "Permission denied", str(path))
            return function(path, *arguments, **options)

        return call

    os.open = guarded(os.open, is_open=True)
    os.listdir, os.stat = guarded(os.listdir), guarded(os.stat)
    builtins.open = io.open = guarded(io.open)


def try_search():
    from plainzero import SearchConfig, make_game, search

    game = make_game("tic-tac-toe")
    result = search(game, game.new_state(), "rollout", SearchConfig(simulations=200))
    return int(result.visits.sum())


def try_training(folder, arguments):
    from plainzero.cli.main import main
    from plainzero.training.run_folder import RunError, RunFolder

    code = main(arguments)
    run, messages = RunFolder(folder), []
    assert not run.is_locked()
    with run.locked():
        assert run.is_locked() and run.holder() == os.getpid()
        try:
            with RunFolder(folder).locked():
                pass
        except RunError as error:
            messages.append(str(error))
    return {"code": code, "weights": len(run.steps()), "locked": messages}


def try_server(folder):
    from plainzero.server.app import Server
    from plainzero.server.options import ServerOptions

    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    server = Server(ServerOptions(home=folder.parent))
    threading.Thread(target=server.serve, args=(listening,), daemon=True).start()
    with urllib.request.urlopen(f"{address}/api/runs") as answer:
        return [run["run"] for run in json.load(answer)]


def try_engine():
    import time

    from plainzero.protocols.engine_process import EngineProcess

    engine = EngineProcess(f"{sys.executable} -c 'print(input()); input()'")
    deadline = time.monotonic() + 500  # a little less than the test that runs this may take
    engine.send("hello", deadline)
    found = engine.read_line(deadline)
    engine.close()
    return [found, engine.is_running]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent / "training"))
    from tiny_runs import train_arguments

    run_folder = Path(sys.argv[2]) / "run"
    arguments = train_arguments(run_folder, 1)
    at = arguments.index("--threads")
    del arguments[at : at + 2]  # all cores of the system
    for name in [name for name in sys.modules if name.partition(".")[0] == "plainzero"]:
        del sys.modules[name]  # to be imported on the other system
    become(sys.argv[1])
    found = {"visits": try_search(), "training": try_training(run_folder, arguments)}
    found |= {"runs": try_server(run_folder), "engine": try_engine()}
    print("\n" + json.dumps(found), flush=True)
    os._exit(0)  # the server has no end here
