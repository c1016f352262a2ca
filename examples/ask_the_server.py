"""Traces a search on a running server, then reads one simulation and the tree.

plainzero serve
python examples/ask_the_server.py http://127.0.0.1:8420
"""

import json
import sys
from urllib.parse import parse_qs, urlsplit

from websockets.sync.client import ClientConnection, connect

POSITION = {"game": "connect-four", "moves": [3, 3, 2]}
AGENT = {"kind": "search", "evaluator": "rollout", "simulations": 500}


def main(address: str) -> None:
    """Prints how the search ended, one of its simulations, and its tree halfway.

    Args:
        address: as `plainzero serve` prints it, with its token if any.
    """
    with open_socket(address) as socket:
        trace = {"type": "trace", "id": "1", "position": POSITION, "agent": AGENT, "seed": 1}
        traced = ask(socket, trace, "traced")
        print(f"{traced['simulations']} simulations, then {traced['best']['name']}")

        simulation = ask(
            socket, {"type": "get-simulation", "id": "1", "simulation": 250}, "simulation"
        )
        for choice, move in zip(simulation["choices"], simulation["moves"], strict=True):
            scores = {child["name"]: child["q"] + child["u"] for child in choice["moves"]}
            best = max(scores, key=scores.__getitem__)
            print(f"  player {move['player'] + 1} took {move['name']}, the best score was {best}'s")

        tree = ask(socket, {"type": "get-tree", "id": "1", "simulation": 250}, "tree")
        for node in tree["nodes"]:
            if node["depth"] == 1:
                print(f"after 250: {node['move']['name']} had {node['visits']} visits")


def open_socket(address: str) -> ClientConnection:
    """A connection to the server at that address."""
    parts = urlsplit(address)
    token = parse_qs(parts.query).get("token", [""])[0]
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # A view of thousands of nodes is longer than the default limit of one megabyte.
    url = f"ws://{parts.netloc}/api/socket"
    try:
        return connect(url, additional_headers=headers, max_size=None)
    except OSError:
        raise SystemExit(f"No server at {address}; start one with `plainzero serve`") from None


def ask(socket: ClientConnection, message: dict, last: str) -> dict:
    """The answer of that type; progress messages before it are skipped."""
    socket.send(json.dumps(message))
    for text in socket:
        answer = json.loads(text)
        if answer["type"] == "failure":
            raise SystemExit(answer["message"])
        if answer["type"] == last:
            return answer
    raise SystemExit("the server closed the connection")


if __name__ == "__main__":
    main(*sys.argv[1:2] or ["http://127.0.0.1:8420"])
