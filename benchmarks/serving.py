"""Fifty people play at once: how long each waits, what memory is left, who frees what.

    python benchmarks/serving.py RUN [--people 50] [--simulations 200] [--moves 4] [--json FILE]

Starts `plainzero serve RUN` on this machine and plays against the run's network through the page's own
WebSocket. The yardstick is one search's compute: the same positions, searched alone through the
same socket. A reading is the median answer, divided by people × that. Ends with status 1, and says
which bound was broken, when one was.
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

BOUND = 1.5  # × people × one search's compute
MEMORY_BOUND = 1.1  # × what the server took before the load
PATIENCE = 1.0  # seconds in which a search must be freed whose client is gone


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
    """The bounds that were broken, in a sentence each."""
    limits = {
        "errors": 0,
        "median_over_people_times_single": BOUND,
        "memory_ratio": MEMORY_BOUND,
        "seconds_to_free_a_vanished_page": PATIENCE,
        "seconds_to_free_a_vanished_request": PATIENCE,
    }
    return [
        f"{name} is {found[name]}; {limit} is the most allowed"
        for name, limit in limits.items()
        if found[name] > limit
    ]


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, help="a run's folder; its network plays")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--moves", type=int, default=4, help="answers that each person waits for")
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
    """What one person saw."""

    def __init__(self) -> None:
        self.waits: list[float] = []  # seconds from question to answer
        self.compute: list[float] = []  # seconds that the server says the search took
        self.errors = 0


async def play(address: str, game: str, player: dict, moves: int, seed: int) -> Played:
    """Plays both sides: each move is an answer that was waited for."""
    played, actions = Played(), []
    async with websockets.connect(f"ws://{address}/api/socket", max_size=None) as socket:
        while len(played.waits) + played.errors < moves:
            position = {"game": game, "moves": actions}
            ask = {"type": "ask", "id": "move", "position": position, "player": player}
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
    """Seconds from a client's going away in mid-search to the end of its search."""
    long = {**player, "simulations": 0, "seconds": 30.0}
    await leave(address, {"position": {"game": game, "moves": []}, "player": long})
    start = time.perf_counter()
    while get(address, "/api/health")["started"]:
        await asyncio.sleep(0.01)
    return round(time.perf_counter() - start, 3)


async def leave_page(address: str, question: dict) -> None:
    """Asks over the socket, and is gone once the search is under way."""
    socket = await websockets.connect(f"ws://{address}/api/socket")
    await socket.send(json.dumps({"type": "ask", "id": "long", **question}))
    while json.loads(await socket.recv())["type"] != "progress":
        pass
    assert get(address, "/api/health")["started"] == 1
    socket.transport.abort()


async def leave_request(address: str, question: dict) -> None:
    """Asks over HTTP, and is gone once the search is under way."""
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
    """The memory after the load, once nothing runs any more."""
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
