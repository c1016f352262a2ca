"""What Linux, macOS and Windows do differently: cores, locks on files, process groups.

Every call that some system lacks is made here, and nowhere else.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_MOST_NICE = 19
_LOCKED_BYTE = 1 << 30  # on Windows; far beyond the text, which others can read all the same


def available_cores() -> int:
    """The number of cores that this process may use; all of them if the system does not tell."""
    return len(core_numbers())


def core_numbers() -> list[int]:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def pin_thread(core: int) -> None:
    """Keeps the calling thread on one core, if the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def resident_bytes(default: int) -> int:
    """The memory that this process has in use; the default if the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return default
    return pages * os.sysconf("SC_PAGE_SIZE")


def lock_file(descriptor: int, is_shared: bool = False) -> bool:
    """Locks an open file, without waiting; returns False if another process has the lock.

    The lock ends with the process, however it ends, or when the file is closed. Windows has no
    shared locks of this kind and takes an exclusive one.
    """
    try:
        if fcntl is not None:
            kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        else:
            _lock_byte(descriptor, "LK_NBLCK")
    except OSError:
        return False
    return True


def unlock_file(descriptor: int) -> None:
    """Gives the lock back before the file is closed."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    else:
        _lock_byte(descriptor, "LK_UNLCK")


def may_have_open(process: int, path: Path) -> bool:
    """Whether a process of this machine has the file open; True if the system does not tell."""
    if not Path("/proc/self/fd").exists():
        return True
    try:
        file, opened = os.stat(path), os.listdir(f"/proc/{process}/fd")
    except OSError:  # the process has ended, or is another user's
        return False
    return any(_is_same(f"/proc/{process}/fd/{name}", file) for name in opened)


def flush_folder(folder: Path) -> None:
    """Makes new names in a folder survive a power cut, where folders can be flushed."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows does not open folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def own_group() -> dict[str, Any]:
    """Arguments of `subprocess.Popen` that keep Ctrl-C in our terminal from the new process."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """Whether a process has ended.

    It is not collected if the system can tell without that, so that its number stays taken and
    `kill_group` cannot reach another process.
    """
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    look = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, look) is not None


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kills a process started with `own_group` and, except on Windows, all that it started."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()


def terminate_this_process() -> None:
    """Runs this process's handler of SIGTERM, from any thread."""
    if sys.platform == "win32":  # where os.kill would end the process at once
        import _thread

        _thread.interrupt_main(signal.SIGTERM)
    else:
        os.kill(os.getpid(), signal.SIGTERM)


def lower_priority(process: int, niceness: int, is_added: bool = False) -> None:
    """Lets other processes go first, if the system can do that.

    Call it before the process has threads, which inherit it. Linux may share time among sessions
    first, so a session's leader sets its session's niceness too.

    Args:
        process: its number.
        niceness: 0 to 19; a higher inherited one stays.
        is_added: adds it to the inherited one instead, so that the parent process goes first.
    """
    if not hasattr(os, "setpriority"):
        return
    with contextlib.suppress(OSError):  # it has ended, or that is not allowed
        inherited = os.getpriority(os.PRIO_PROCESS, process)
        lowered = min(inherited + niceness if is_added else max(inherited, niceness), _MOST_NICE)
        os.setpriority(os.PRIO_PROCESS, process, lowered)
        if os.getsid(process) == process:
            Path(f"/proc/{process}/autogroup").write_text(str(lowered))


def on_hang_up(handler: Any) -> None:
    """Calls the handler when the terminal goes away, unless `nohup` ignores that signal."""
    hang_up = getattr(signal, "SIGHUP", None)
    is_main = threading.current_thread() is threading.main_thread()  # as signals need
    if hang_up is not None and is_main and signal.getsignal(hang_up) is signal.SIG_DFL:
        signal.signal(hang_up, handler)


def _lock_byte(descriptor: int, mode: str) -> None:
    """Locks or unlocks one byte as Windows does; `mode` is a constant of `msvcrt`.

    Raises:
        OSError: when another process has it.
    """
    import msvcrt

    locking: Any = msvcrt  # whose contents only Windows has
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    locking.locking(descriptor, getattr(locking, mode), 1)
    os.lseek(descriptor, 0, os.SEEK_SET)


def _is_same(path: str, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), file)
    except OSError:  # closed since
        return False
