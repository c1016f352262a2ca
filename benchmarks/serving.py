"""Fifty people play at once: waiting times, memory, and release of abandoned searches.

    python benchmarks/serving.py RUN [--people 50] [--simulations 200] [--moves 4] [--json FILE]

Starts `plainzero serve RUN` and plays against the run's network through the page's WebSocket. The
reference is the compute time of a single search, measured through the same socket without other
load. The result is the median waiting time divided by people × reference. Exits with 1 and names
the bounds if any is exceeded.
"""

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path

import websockets

BOUND = 1.5  # × people × compute time of a single search
MEMORY_BOUND = 1.1  # × the server's memory before the load
PATIENCE = 1.0  # seconds until the search of a disconnected client must be released


async def main() -> int:
    arguments = read_arguments()
    command = [sys.executable, "-m", "plainzero.cli", "serve", str(arguments.run), "--port", "0"]
    process = subprocess.Popen([*command, "--no-training"], stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://(\S+)", process.stdout.readline())[1]
        found = await measure(address, process.pid, arguments)
    finally:
        process.terminate()
        process.wait(20)
    print(json.dumps(found, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(found))
    failures = find_failures(found)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def find_failures(found: dict[str, object]) -> list[str]:
    """One sentence per bound that was exceeded."""
    limits = {
        "errors": 0,
        "median_over_people_times_single": BOUND,
        "memory_ratio": MEMORY_BOUND,
        "seconds_to_free_a_vanished_page": PATIENCE,
        "seconds_to_free_a_vanished_request": PATIENCE,
    }
    return [
        f"{name} is {found[name]}; the limit is {limit}"
        for name, limit in limits.items()
        if found[name] > limit
    ]


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder of the run whose network plays")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--moves", type=int, default=4, help="answers per person")
    parser.add_argument("--evaluator", default="network", choices=["network", "rollout"])
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


async def measure(address: str, pid: int, arguments: argparse.Namespace) -> dict[str, object]:
    run = get(address, "/api/runs")[0]
    player = {"kind": "search", "evaluator": arguments.evaluator}
    if arguments.evaluator == "network":
        player["run"] = run["run"]
    player["simulations"] = arguments.simulations
    await play(address, run["game"], player, 2, seed=0)  # compiles and loads
    single = await play(address, run["game"], player, 2 * arguments.moves, seed=1)
    before = resident_bytes(pid)
    start = time.perf_counter()
    games = await asyncio.gather(
        *(
            play(address, run["game"], player, arguments.moves, seed=person)
            for person in range(arguments.people)
        )
    )
    seconds = time.perf_counter() - start
    waits = [wait for game in games for wait in game.waits]
    compute = statistics.median(single.compute)
    after = await settled_bytes(address, pid)
    return {
        "people": arguments.people,
        "simulations": arguments.simulations,
        "evaluator": arguments.evaluator,
        "answers": len(waits),
        "errors": sum(game.errors for game in games),
        "seconds": round(seconds, 3),
        "single_search_ms": round(1000 * compute, 2),
        "median_answer_ms": round(1000 * statistics.median(waits), 1),
        "slowest_answer_ms": round(1000 * max(waits), 1),
        "median_over_people_times_single": round(
            statistics.median(waits) / (arguments.people * compute), 3
        ),
        "bound": BOUND,
        "memory_before_mb": round(before / 1e6, 1),
        "memory_after_mb": round(after / 1e6, 1),
        "memory_ratio": round(after / before, 3),
        "memory_bound": MEMORY_BOUND,
        "seconds_to_free_a_vanished_page": await vanish(address, run["game"], player, leave_page),
        "seconds_to_free_a_vanished_request": await vanish(
            address, run["game"], player, leave_request
        ),
        "allowed_seconds_to_free": PATIENCE,
    }


class Played:
    """The waiting times and errors of one person."""

    def __init__(self) -> None:
        self.waits: list[float] = []  # seconds from request to answer
        self.compute: list[float] = []  # seconds of the search, as reported by the server
        self.errors = 0


async def play(address: str, game: str, player: dict, moves: int, seed: int) -> Played:
    """Plays both sides: every move is an answer of the server."""
    played, actions = Played(), []
    async with websockets.connect(f"ws://{address}/api/socket", max_size=None) as socket:
        while len(played.waits) + played.errors < moves:
            position = {"game": game, "moves": actions}
            ask = {"type": "search", "id": "move", "position": position, "agent": player}
            start = time.perf_counter()
            await socket.send(json.dumps({**ask, "seed": seed + len(actions)}))
            while (message := json.loads(await socket.recv()))["type"] in ("queued", "progress"):
                pass
            if message["type"] != "answer":
                print(message, file=sys.stderr)
                played.errors += 1
                actions = []
                continue
            played.waits.append(time.perf_counter() - start)
            played.compute.append(message["answer"]["seconds"])
            actions = [*actions, message["answer"]["action"]]
    return played


async def vanish(
    address: str, game: str, player: dict, leave: Callable[[str, dict], Awaitable[None]]
) -> float:
    """Seconds from a client's disconnecting during a search to the end of that search."""
    long = {**player, "simulations": 0, "seconds": 30.0}
    await leave(address, {"position": {"game": game, "moves": []}, "agent": long})
    start = time.perf_counter()
    while get(address, "/api/health")["started"]:
        await asyncio.sleep(0.01)
    return round(time.perf_counter() - start, 3)


async def leave_page(address: str, question: dict) -> None:
    """Requests a search over the socket, and disconnects once it is running."""
    socket = await websockets.connect(f"ws://{address}/api/socket")
    await socket.send(json.dumps({"type": "search", "id": "long", **question}))
    while json.loads(await socket.recv())["type"] != "progress":
        pass
    assert get(address, "/api/health")["started"] == 1
    socket.transport.abort()


async def leave_request(address: str, question: dict) -> None:
    """Requests a search over HTTP, and disconnects once it is running."""
    host, port = address.rsplit(":", 1)
    _, writer = await asyncio.open_connection(host, int(port))
    body = json.dumps(question)
    writer.write(
        f"POST /api/search HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    await writer.drain()
    while not get(address, "/api/health")["started"]:
        await asyncio.sleep(0.01)
    writer.transport.abort()


async def settled_bytes(address: str, pid: int) -> int:
    """The memory after the load, once no search is running."""
    while get(address, "/api/health")["started"]:
        await asyncio.sleep(0.05)
    await asyncio.sleep(1.0)
    return resident_bytes(pid)


def resident_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024


def get(address: str, path: str) -> object:
    with urllib.request.urlopen(f"http://{address}{path}", timeout=30) as answer:
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
