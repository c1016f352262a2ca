"""The watchdog of a check: rules that compute or wait for ever are interrupted, others are not."""

import inspect
import math
import os
import signal
import threading
import time

import pytest

from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.check import watchdog
from plainzero.games.check.check_game import check_game
from plainzero.games.check.watchdog import TookTooLong, WaitedTooLong, Watchdog

needs_thread_clocks = pytest.mark.skipif(
    not hasattr(time, "pthread_getcpuclockid"), reason="this system has no clock per thread"
)
needs_signals = pytest.mark.skipif(
    not hasattr(signal, "pthread_kill"), reason="this system cannot wake a thread"
)


def compute(seconds: float) -> None:
    """Computes for that number of the thread's own seconds, however busy the machine is."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@pytest.fixture
def dog() -> Watchdog:
    dog = Watchdog()
    dog.limit, dog.waiting_limit = 0.1, math.inf
    return dog


@needs_thread_clocks
def test_what_other_threads_compute_does_not_count(dog):
    other = threading.Thread(target=compute, args=(10 * dog.limit,))
    with dog.awake(), dog.watching():
        other.start()
        other.join()


def test_what_the_watched_thread_computes_counts_from_the_start_of_a_call(dog):
    with dog.awake():
        compute(2 * dog.limit)
        with dog.watching():
            pass
        with pytest.raises(TookTooLong) as raised, dog.watching():
            compute(math.inf)
    assert raised.type is TookTooLong


def sleep() -> None:
    time.sleep(10_000)  # waits


def wait_for_input() -> None:
    reading, writing = os.pipe()
    try:
        os.read(reading, 1)  # waits
    finally:
        os.close(reading)
        os.close(writing)


def wait_for_a_lock() -> None:
    lock = threading.Lock()
    with lock:
        lock.acquire()  # waits


@needs_signals
@pytest.mark.parametrize("wait", [sleep, wait_for_input, wait_for_a_lock])
def test_a_rule_that_waits_is_named_with_its_line(monkeypatch, wait):
    monkeypatch.setattr(watchdog, "WAITING_LIMIT", 0.1)

    class Waits(TicTacToe):
        def reset(self, state):
            wait()

    (problem,) = check_game(Waits())
    lines, first = inspect.getsourcelines(wait)
    line = first + next(i for i, text in enumerate(lines) if "# waits" in text)
    assert problem.kind == "endless"
    assert problem.message == (
        "reset does not return, after 0.1 seconds of waiting "
        f"(test_watchdog.py, line {line}); rules must not read input, sleep or wait"
    )


def test_waiting_in_short_intervals_counts_in_any_thread(dog):
    dog.limit, dog.waiting_limit = math.inf, 0.1
    raised = []

    def watch() -> None:
        try:
            with dog.awake(), dog.watching():
                while True:
                    time.sleep(0.001)
        except TookTooLong as error:
            raised.append(type(error))

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert raised == [WaitedTooLong]


@needs_signals
def test_a_handler_of_the_waking_signal_is_restored(dog):
    before = signal.getsignal(signal.SIGURG)
    with dog.awake():
        assert signal.getsignal(signal.SIGURG) != before
    assert signal.getsignal(signal.SIGURG) == before
