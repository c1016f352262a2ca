"""Engines as processes: lines go both ways, and every failure ends the process."""

import gc
import io
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plainzero.protocols.engine_output import EngineOutput, read_output
from plainzero.protocols.engine_process import EngineFailed, EngineProcess

LONG = 3600.0  # seconds; a test that hangs is ended sooner
SHORT = 0.2


def python(program):
    """The command that runs a small program."""
    return f"{shlex.quote(sys.executable)} -S -E -u -c {shlex.quote(program)}"


def soon():
    return time.monotonic() + LONG


def is_alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for_end(pid):
    while is_alive(pid):
        time.sleep(0.01)


ECHO = python("import sys\nfor line in sys.stdin: print('heard', line, end='')")


def test_lines_go_both_ways():
    engine = EngineProcess(ECHO)
    for word in ("one", "two with spaces", "dré"):
        engine.send(word, soon())
        assert engine.read_line(soon()) == f"heard {word}"
    engine.close()
    assert not engine.is_running


def test_the_command_is_split_but_no_shell_sees_it():
    engine = EngineProcess(f"{python('import sys; print(sys.argv[1:])')} 'a b' c;d $HOME *")
    assert engine.read_line(soon()) == "['a b', 'c;d', '$HOME', '*']"


def test_no_line_in_time_is_none_and_the_program_continues():
    engine = EngineProcess(ECHO)
    assert engine.read_line(time.monotonic() + 0.01) is None
    engine.send("now", soon())
    assert engine.read_line(soon()) == "heard now"
    engine.close()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-program-here --x", "there is no program 'no-such-program-here'"),
        ("", "needs a command"),
        ("'open quote", "No closing quotation"),
        (os.curdir, "there is no program"),
    ],
)
def test_a_program_that_cannot_be_started_is_named(command, words):
    with pytest.raises(EngineFailed, match=words):
        EngineProcess(command)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import sys; print('x', file=sys.stderr); sys.exit(3)", "ended with exit code 3"),
        ("import os; os.kill(os.getpid(), 11)", "killed by signal 11 SIGSEGV"),
    ],
)
def test_a_program_that_ends_is_reported_with_its_exit_status(program, words):
    engine = EngineProcess(python(program))
    with pytest.raises(EngineFailed, match=words) as failure:
        engine.read_line(soon())
    assert failure.value.engine == Path(sys.executable).name
    assert not engine.is_running


def test_a_program_that_closes_its_output_fails(monkeypatch):
    monkeypatch.setattr("plainzero.protocols.engine_process._PATIENCE", 0.1)
    engine = EngineProcess(python("import os, time; os.close(1); time.sleep(600)"))
    with pytest.raises(EngineFailed, match="closed its output"):
        engine.read_line(soon())
    assert not engine.is_running


def test_output_before_a_crash_is_in_the_transcript():
    program = "import sys; print('loading'); print('no memory', file=sys.stderr); sys.exit(1)"
    engine = EngineProcess(python(program))
    assert engine.read_line(soon()) == "loading"
    with pytest.raises(EngineFailed) as failure:
        engine.read_line(soon())
    assert "< loading" in failure.value.transcript and "! no memory" in failure.value.transcript


def test_writing_to_a_program_that_ended_fails():
    engine = EngineProcess(python("import sys; sys.exit(4)"))
    with pytest.raises(EngineFailed, match="exit code 4"):
        for _ in range(1000):
            engine.send("x" * 1000, soon())


def test_a_program_that_does_not_read_fails_in_time():
    engine = EngineProcess(python("import time; time.sleep(600)"))
    with pytest.raises(EngineFailed, match="does not read"):
        engine.send("x" * 10_000_000, time.monotonic() + SHORT)
    assert not engine.is_running


class BrokenStream(io.BytesIO):
    """Output that cannot be read."""

    def read(self, size=-1):
        raise OSError("broken")


def test_output_that_cannot_be_read_has_ended():
    output, stream = EngineOutput(), BrokenStream()
    with pytest.raises(OSError, match="broken"):
        read_output(output, stream)
    assert output.has_ended and stream.closed
    assert output.next_line(soon()) is None


def test_a_program_that_fills_its_stderr_still_answers():
    program = "import sys; sys.stderr.write('x\\n' * 500_000); print(input())"
    engine = EngineProcess(python(program))
    engine.send("hello", soon())
    assert engine.read_line(soon()) == "hello"
    engine.close()


@pytest.mark.parametrize("program", ["while 1: print('bla')", "while 1: print('bla', end='')"])
def test_endless_output_is_stopped_before_it_fills_the_memory(program):
    engine = EngineProcess(python(program))
    with pytest.raises(EngineFailed, match="wrote too much"):
        while True:
            time.sleep(SHORT)  # reads more slowly than it writes
            engine.read_line(soon())
    assert len(engine.transcript) < 2_000_000 and not engine.is_running


def test_children_end_with_their_program():
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid)\n"
        "time.sleep(600)"
    )
    engine = EngineProcess(python(program))
    child = int(engine.read_line(soon()))
    assert is_alive(child)
    engine.close()
    wait_for_end(child)


def test_children_of_a_crashed_program_end_too():
    program = (
        "import subprocess, sys\n"
        "sleep = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "print(subprocess.Popen(sleep, stdout=2).pid)\n"
        "sys.exit(1)"
    )
    engine = EngineProcess(python(program))
    child = int(engine.read_line(soon()))
    with pytest.raises(EngineFailed, match="exit code 1"):
        engine.read_line(soon())
    wait_for_end(child)


def test_a_farewell_lets_a_program_end_by_itself(tmp_path):
    program = f"input(); open({str(tmp_path / 'said')!r}, 'w').write('goodbye')"
    EngineProcess(python(program)).close("quit", LONG)
    assert (tmp_path / "said").read_text() == "goodbye"


def test_a_forgotten_program_ends():
    engine = EngineProcess(python("import os, time; print(os.getpid()); time.sleep(600)"))
    pid = int(engine.read_line(soon()))
    del engine
    gc.collect()
    wait_for_end(pid)


def test_programs_end_with_the_interpreter():
    sleeper = python("import os, time; print(os.getpid()); time.sleep(600)")
    program = (
        "import time; from plainzero.protocols.engine_process import EngineProcess\n"
        f"kept = EngineProcess({sleeper!r})\n"
        f"print(kept.read_line(time.monotonic() + {LONG}))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stderr == ""
    wait_for_end(int(ended.stdout))


def test_closing_twice_is_allowed_and_sending_after_it_is_an_error():
    engine = EngineProcess(ECHO)
    engine.close()
    engine.close()
    with pytest.raises(EngineFailed, match="was closed"):
        engine.send("x", soon())
