"""A server's options: what it serves, its limits, and access control."""

import socket
from dataclasses import dataclass, field
from pathlib import Path

from plainzero.operating_system import available_cores
from plainzero.server.api.schemas.games import Limits

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
ANY_HOST = ("0.0.0.0", "::")

DEFAULT_LIMITS = Limits(
    simulations=200_000, seconds=60.0, nodes=200_000, depth=30, body_bytes=1 << 20
)


@dataclass(frozen=True)
class ServerOptions:
    """The options of a server."""

    runs: tuple[Path, ...] = ()  # run folders, or folders that hold some
    games: tuple[str, ...] = ()  # the user's own, as path/to/file.py:ClassName
    default_game: str = ""  # "": the first of `games`, or of the runs, or Connect Four
    home: Path = Path("runs")  # where new runs are created
    ladders: Path = Path("ladders")  # the user's own
    can_train: bool = True
    niceness: int = 10  # of training processes; searches that somebody waits for come first
    host: str = "127.0.0.1"
    port: int = 8420
    token: str = ""  # that every request must send; "": none
    names: tuple[str, ...] = ()  # further host names of the server
    searches: int = field(default_factory=available_cores)  # computing at the same time
    search_bytes: int = 128 << 20  # for the tree of one search
    trace_bytes: int = 512 << 20  # for all cached traces
    limits: Limits = DEFAULT_LIMITS

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOCAL_HOSTS

    @property
    def address(self) -> str:
        """The URL for a browser; on other machines too, if the server listens on all interfaces."""
        host = self.host if self.host not in ANY_HOST else _own_address()
        shown = f"[{host}]" if ":" in host else host
        token = f"/?token={self.token}" if self.token else ""
        return f"http://{shown}:{self.port}{token}"


def _own_address() -> str:
    """This machine's address in its network; no packet is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # reserved for documentation
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
