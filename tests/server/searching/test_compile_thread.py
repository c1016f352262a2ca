"""Compiling ahead: once for all waiting searches, without a slot, not for cancelled ones."""

import threading

import pytest

from plainzero.opponents.agent import Stopped
from plainzero.search.runner import StopFlag
from plainzero.server.searching.compile_thread import CompileThread
from plainzero.server.searching.scheduler import Slot, SlotQueue


@pytest.fixture
def compiling():
    compiling = CompileThread()
    yield compiling
    compiling.close()


def start(work):
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_others_compute_while_something_is_compiled(compiling):
    slots, may_end, ended = SlotQueue(1), threading.Event(), []

    def wait_for_it():
        with Slot(slots, "a", StopFlag()) as slot:
            compiling.ensure("game", lambda: may_end.wait(), slot)
            ended.append("a")

    thread = start(wait_for_it)
    for client in ("b", "c", "d"):
        with Slot(slots, client, StopFlag()):
            assert not ended
    may_end.set()
    thread.join()
    assert ended == ["a"]


def test_each_thing_is_compiled_once(compiling):
    slots, may_end, compiled = SlotQueue(4), threading.Event(), []

    def compile_it():
        may_end.wait()
        compiled.append("game")

    def wait_for_it():
        with Slot(slots, "a", StopFlag()) as slot:
            compiling.ensure("game", compile_it, slot)

    threads = [start(wait_for_it) for _ in range(3)]
    may_end.set()
    for thread in threads:
        thread.join()
    wait_for_it()
    assert compiled == ["game"]


def test_who_is_stopped_leaves_and_what_had_not_begun_never_does(compiling):
    slots, may_end, has_begun, compiled = SlotQueue(4), threading.Event(), threading.Event(), []

    def compile_first():
        has_begun.set()
        may_end.wait()
        compiled.append("first")

    def wait_for(key, compile_it, stop):
        with Slot(slots, "a", stop) as slot:
            compiling.ensure(key, compile_it, slot)

    first = start(lambda: wait_for("first", compile_first, StopFlag()))
    has_begun.wait()
    stop = StopFlag()
    threading.Timer(0.05, stop.set).start()
    with pytest.raises(Stopped, match="being compiled"):
        wait_for("second", lambda: compiled.append("second"), stop)
    may_end.set()
    first.join()
    wait_for("third", lambda: compiled.append("third"), StopFlag())
    assert compiled == ["first", "third"]


def test_what_fails_is_tried_again_for_the_next(compiling):
    slot = Slot(SlotQueue(1), "a", StopFlag())

    def fail():
        raise ValueError("these rules do not compile")

    with slot:
        with pytest.raises(ValueError, match="do not compile"):
            compiling.ensure("game", fail, slot)
        done = []
        compiling.ensure("game", lambda: done.append(True), slot)
        assert done
