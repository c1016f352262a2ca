"""Compiling ahead: once for all who wait, without a turn, and not for those who have left."""

import threading

import pytest

from plainzero.opponents.agent import Stopped
from plainzero.search.runner import StopFlag
from plainzero.server.searching.precompile import CompilingAhead
from plainzero.server.searching.scheduler import Turn, Turns


@pytest.fixture
def compiling():
    compiling = CompilingAhead()
    yield compiling
    compiling.close()


def start(work):
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_others_compute_while_something_is_compiled(compiling):
    turns, may_end, ended = Turns(1), threading.Event(), []

    def wait_for_it():
        with Turn(turns, "a", StopFlag()) as turn:
            compiling.finish("game", lambda: may_end.wait(20), turn)
            ended.append("a")

    thread = start(wait_for_it)
    for client in ("b", "c", "d"):
        with Turn(turns, client, StopFlag()):
            assert not ended
    may_end.set()
    thread.join()
    assert ended == ["a"]


def test_each_thing_is_compiled_once(compiling):
    turns, may_end, compiled = Turns(4), threading.Event(), []

    def compile_it():
        may_end.wait(20)
        compiled.append("game")

    def wait_for_it():
        with Turn(turns, "a", StopFlag()) as turn:
            compiling.finish("game", compile_it, turn)

    threads = [start(wait_for_it) for _ in range(3)]
    may_end.set()
    for thread in threads:
        thread.join()
    wait_for_it()
    assert compiled == ["game"]


def test_who_is_stopped_leaves_and_what_had_not_begun_never_does(compiling):
    turns, may_end, has_begun, compiled = Turns(4), threading.Event(), threading.Event(), []

    def compile_first():
        has_begun.set()
        may_end.wait(20)
        compiled.append("first")

    def wait_for(key, compile_it, stop):
        with Turn(turns, "a", stop) as turn:
            compiling.finish(key, compile_it, turn)

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
    turn = Turn(Turns(1), "a", StopFlag())

    def fail():
        raise ValueError("these rules do not compile")

    with turn:
        with pytest.raises(ValueError, match="do not compile"):
            compiling.finish("game", fail, turn)
        done = []
        compiling.finish("game", lambda: done.append(True), turn)
        assert done
