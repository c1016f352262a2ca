"""What a server is started with: its limits, who may speak to it, and what it shows."""

import os
import socket
from dataclasses import dataclass, field
from pathlib import Path

from plainzero.server.api.schemas.games import Limits

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
ANY_HOST = ("0.0.0.0", "::")

DEFAULT_LIMITS = Limits(
    simulations=200_000, seconds=60.0, nodes=200_000, depth=30, body_bytes=1 << 20
)


@dataclass(frozen=True)
class ServerOptions:
    """How to serve."""

    runs: tuple[Path, ...] = ()  # run folders, or folders that hold some
    games: tuple[str, ...] = ()  # of the user's own, as path/to/file.py:ClassName
    default_game: str = ""  # "": the first of `games`, else the first run's, else Connect Four
    home: Path = Path("runs")  # where runs are begun
    can_train: bool = True
    host: str = "127.0.0.1"
    port: int = 8420
    token: str = ""  # needed by every request; "": none, on this machine alone
    names: tuple[str, ...] = ()  # further host names under which it may be reached
    searches: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))  # at once
    search_bytes: int = 128 << 20  # of one search's tree
    kept_bytes: int = 512 << 20  # of all traces that are kept to look at
    limits: Limits = DEFAULT_LIMITS

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOCAL_HOSTS

    @property
    def address(self) -> str:
        """Where a browser finds it: on this machine, or on others too where it listens to all."""
        host = self.host if self.host not in ANY_HOST else _own_address()
        shown = f"[{host}]" if ":" in host else host
        token = f"/?token={self.token}" if self.token else ""
        return f"http://{shown}:{self.port}{token}"


def _own_address() -> str:
    """This machine's address in its network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation: nobody is there
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
