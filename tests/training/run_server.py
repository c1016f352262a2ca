"""Runs `plainzero` in forked processes, so that imports and loading of machine code are paid once.

A line of input is a JSON list: a file for what is printed, what is to go wrong, and arguments; the
answer is the number of the process that has begun. After "?" the answer is 1 while it runs, else 0.
After an empty line the answer is its exit code, once it has ended; until then the number stays its
own.
"""

import importlib
import json
import os
import resource
import signal
import sys
import traceback

MODULES = (
    "torch._dynamo",  # which the first optimiser imports, in seconds
    "torch.utils.tensorboard",
    "plainzero.arena.strength_meter",
    "plainzero.arena.gate",
    "plainzero.cli.main",
    "plainzero.cli.terminal.training_view",
    "plainzero.training.loop",
)


def serve():
    warm_up()
    print("ready", flush=True)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            run(*json.loads(line))
        print(child, flush=True)
        while sys.stdin.readline() == "?\n":
            ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            print(int(ended is None), flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def warm_up():
    """Imports what a run imports, and plays a round; starts no thread, which a fork would lose."""
    for module in MODULES:
        importlib.import_module(module)
    import numpy as np
    import torch

    from plainzero import make_game
    from plainzero.search.evaluation_cache import EvaluationCache
    from plainzero.selfplay.config import SelfPlayConfig
    from plainzero.selfplay.observations import observe_all, targets_of
    from plainzero.selfplay.worker import Worker
    from plainzero.training.settings import default_config

    torch.set_num_threads(1)
    game = make_game("tic-tac-toe")

    def evaluator(planes):
        return np.zeros((len(planes), 9), np.float32), np.zeros(len(planes), np.float32)

    search, cache = default_config(game).search, EvaluationCache(game, 1 << 20)
    worker = Worker(game, evaluator, search, SelfPlayConfig(games=2), 0, cache=cache)
    worker.use_weights(0)
    records = []
    while not records:
        records = worker.play_round()
    worker.restore(worker.state())
    observe_all(game, targets_of(game, records).states)


def run(output, trouble, *arguments):
    """Never returns."""
    from plainzero.cli.main import main

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor in (1, 2):
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    code = 1
    try:
        most_bytes = trouble.get("most_bytes", resource.RLIM_INFINITY)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
        if "last_file" in trouble:
            signal_after(trouble["last_file"], trouble.get("signal", signal.SIGKILL))
        code = main(arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def signal_after(count, number):
    """Sends this process a signal right after that many files have got their names."""
    replace, done = os.replace, 0

    def counted(*paths):
        nonlocal done
        replace(*paths)
        done += 1
        if done == count:
            os.kill(os.getpid(), number)

    os.replace = counted


if __name__ == "__main__":
    serve()
