"""The whole server through its front door: HTTP and the WebSocket, in this process."""

import threading
import time

import pytest
from fastapi.testclient import TestClient

from tesuji import SearchConfig, make_game, search
from tesuji.server.app import make_app
from tesuji.server.options import ServerOptions
from tesuji.server.services import Services

GAME = {"game": "tic-tac-toe", "moves": [0, 4]}
UNIFORM = {"kind": "search", "evaluator": "uniform", "simulations": 300}


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    """With the limits that users have."""
    home = tmp_path_factory.mktemp("runs")
    return Services(ServerOptions(home=home, can_train=False, names=("testserver",)))


@pytest.fixture(scope="module")
def client(services):
    with TestClient(make_app(services)) as client:  # which closes the services at its end
        yield client


@pytest.fixture
def socket(client):
    with client.websocket_connect("/api/socket", subprotocols=["tesuji"]) as socket:
        yield socket


def receive(socket, *types):
    """The next message of one of the types."""
    while (message := socket.receive_json())["type"] not in types:
        assert message["type"] in ("queued", "progress"), message
    return message


def the_same_search(**options):
    game = make_game("tic-tac-toe")
    state = game.new_state()
    for action in GAME["moves"]:
        game.apply(state, action)
    return search(game, state, "uniform", SearchConfig(simulations=300, **options), seed=5)


def test_a_search_over_http_is_the_engines_own(client):
    body = {"position": GAME, "player": UNIFORM, "seed": 5}
    answer = client.post("/api/search", json=body).json()
    result = the_same_search()
    assert answer["action"] == result.best_action
    table = {move["action"]: move for move in answer["analysis"]["moves"]}
    assert {action: move["visits"] for action, move in table.items()} == {
        action: result.visits[action] for action in result.legal
    }
    assert table[result.best_action]["q"] == pytest.approx(result.q[result.best_action])
    assert answer["analysis"]["value"] == pytest.approx(result.value)


def test_a_search_over_the_socket_is_the_same(socket):
    socket.send_json({"type": "ask", "id": "a", "position": GAME, "player": UNIFORM, "seed": 5})
    answer = receive(socket, "answer")["answer"]
    assert answer["action"] == the_same_search().best_action


@pytest.mark.parametrize(
    "player",
    [
        {"kind": "random"},
        {"kind": "alphabeta", "depth": 3},
        {"kind": "perfect"},
        {"kind": "search", "evaluator": "rollout", "simulations": 50},
        {"kind": "search", "seconds": 0.05, "simulations": 0},
    ],
)
def test_every_kind_of_player_makes_a_legal_move(client, player):
    answer = client.post("/api/search", json={"position": GAME, "player": player})
    assert answer.status_code == 200, answer.text
    assert answer.json()["action"] not in GAME["moves"]
    assert len(answer.json()["analysis"]["moves"]) == 7


def test_alpha_beta_sees_a_win_in_one(client):
    position = {"game": "tic-tac-toe", "moves": [0, 3, 1, 4]}
    for player in ({"kind": "alphabeta", "depth": 2}, {"kind": "perfect"}):
        answer = client.post("/api/search", json={"position": position, "player": player}).json()
        assert answer["name"] == "c1"


def test_outcomes_are_those_of_perfect_play(client):
    position = {"game": "tic-tac-toe", "moves": [0, 4, 1]}
    answer = client.post("/api/outcomes", json={"position": position}).json()
    assert answer["is_solved"]
    assert {move["name"]: move["outcome"] for move in answer["moves"]}["c1"] == 0
    assert {move["outcome"] for move in answer["moves"] if move["name"] != "c1"} == {-1}


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"simulations": 300_000}, "200,000 and 60 are the most here"),
        ({"simulations": 0}, "the search has no budget"),
        ({"options": {"trace": True}}, "there is no option 'trace'"),
        ({"options": {"cpuct": 1}}, "there is no option 'cpuct'"),
        ({"options": {"c_puct": "big"}}, "it must be a number"),
        ({"options": {"rollouts": 1000}}, "it can be 100 at most here"),
        ({"evaluator": "network"}, "no run is given"),
        ({"evaluator": "network", "run": "nobody"}, "nobody"),
        ({"evaluator": "network", "run": "../../etc"}, "run"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_what_a_search_may_not_ask_is_said_in_a_sentence(client, change, sentence):
    body = {"position": GAME, "player": {**UNIFORM, **change}}
    answer = client.post("/api/search", json=body)
    assert answer.status_code == 422
    assert sentence in answer.json()["message"]


def test_nothing_is_searched_when_the_game_is_over(client):
    position = {"game": "tic-tac-toe", "moves": [0, 3, 1, 4, 2]}
    answer = client.post("/api/search", json={"position": position, "player": UNIFORM})
    assert "the game is over" in answer.json()["message"]


def test_a_stopped_search_answers_with_what_it_has(socket):
    long = {"kind": "search", "evaluator": "rollout", "simulations": 0, "seconds": 15.0}
    long["options"] = {"rollouts": 100}
    position = {"game": "connect-four", "moves": []}
    socket.send_json({"type": "ask", "id": "a", "position": position, "player": long})
    while socket.receive_json()["type"] != "progress":
        pass
    socket.send_json({"type": "stop", "id": "a"})
    answer = receive(socket, "answer")["answer"]
    assert 0 < answer["analysis"]["simulations"] < 200_000


def test_a_page_that_goes_away_frees_its_search(client, services):
    long = {"kind": "search", "evaluator": "rollout", "simulations": 0, "seconds": 20.0}
    long["options"] = {"rollouts": 100}
    with client.websocket_connect("/api/socket") as socket:
        position = {"game": "connect-four", "moves": []}
        socket.send_json({"type": "ask", "id": "a", "position": position, "player": long})
        while socket.receive_json()["type"] != "progress":
            pass
        assert client.get("/api/health").json()["started"] == 1
    deadline = time.monotonic() + 10
    while services.searches.running and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not services.searches.running


def test_a_cancelled_search_says_nothing_more(socket):
    long = {"kind": "search", "evaluator": "rollout", "simulations": 0, "seconds": 15.0}
    position = {"game": "connect-four", "moves": []}
    socket.send_json({"type": "ask", "id": "long", "position": position, "player": long})
    socket.send_json({"type": "cancel", "id": "long"})
    socket.send_json({"type": "ask", "id": "short", "position": GAME, "player": UNIFORM})
    while (message := socket.receive_json())["id"] != "short":
        assert message["type"] in ("queued", "progress")
    assert message["type"] in ("answer", "progress", "queued")


def test_a_trace_is_kept_to_look_at(socket):
    think = {"type": "think", "id": "t", "position": GAME, "player": UNIFORM, "seed": 5}
    socket.send_json(think)
    thought = receive(socket, "thought")
    result = the_same_search(trace=True)
    assert thought["simulations"] == 300 and thought["best"]["action"] == result.best_action
    socket.send_json({"type": "look", "id": "t", "simulation": 300})
    tree = receive(socket, "tree")
    first = {node["move"]["action"]: node["visits"] for node in tree["nodes"] if node["depth"] == 1}
    assert first == {action: result.visits[action] for action in result.legal}
    socket.send_json({"type": "look-at-step", "id": "t", "simulation": 7})
    step = receive(socket, "step")
    assert [move["action"] for move in step["moves"]] == result.trace[6].actions
    socket.send_json({"type": "look-at-node", "id": "t", "simulation": 300, "node": 0})
    assert receive(socket, "node")["visits"] == 300


def test_a_trace_that_is_gone_is_said_to_be(socket):
    socket.send_json({"type": "look", "id": "nothing", "simulation": 1})
    assert "not kept any more" in receive(socket, "failure")["message"]


def test_messages_that_cannot_be_read_are_answered(socket):
    for text, id_ in (("{", ""), ('{"type": "ask", "id": "x"}', "x"), ('{"type": "?"}', "")):
        socket.send_text(text)
        failure = receive(socket, "failure")
        assert failure["id"] == id_ and failure["message"]


def test_too_many_requests_of_one_page_are_refused(socket):
    long = {"kind": "search", "evaluator": "rollout", "simulations": 0, "seconds": 15.0}
    position = {"game": "connect-four", "moves": []}
    for number in range(17):
        ask = {"type": "ask", "id": f"a{number}", "position": position, "player": long}
        socket.send_json(ask)
    assert "requests are open already" in receive(socket, "failure")["message"]


def test_the_event_loop_answers_while_searches_run(client, services):
    long = {"kind": "search", "evaluator": "rollout", "simulations": 0, "seconds": 1.0}
    body = {"position": {"game": "connect-four", "moves": []}, "player": long}
    threads = [
        threading.Thread(target=client.post, args=("/api/search",), kwargs={"json": body})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    answered = 0
    while any(thread.is_alive() for thread in threads):
        assert client.get("/api/games").status_code == 200
        answered += 1
    assert answered > 1


def test_saved_games_go_out_and_come_in(client):
    for form in ("json", "sgf"):
        body = {"position": GAME, "format": form, "players": ["Ann", "Bob"], "resigned": 1}
        saved = client.post("/api/export", json=body).json()
        assert saved["file_name"] == f"tic-tac-toe.{form}"
        read = client.post("/api/import", json={"content": saved["content"]}).json()
        assert [move["action"] for move in read["view"]["moves"]] == GAME["moves"]
        assert (read["players"], read["resigned"]) == (["Ann", "Bob"], 1)


def test_without_a_page_the_server_says_so(services, tmp_path):
    client = TestClient(make_app(services, tmp_path))
    answer = client.get("/")
    assert answer.status_code == 503 and "was not built" in answer.text
    assert client.get("/api/games").status_code == 200


def test_the_page_is_served_and_nothing_outside_it(services, tmp_path):
    (tmp_path / "page" / "assets").mkdir(parents=True)
    (tmp_path / "page" / "index.html").write_text("<title>Tesuji</title>")
    (tmp_path / "page" / "assets" / "a.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    client = TestClient(make_app(services, tmp_path / "page"))
    assert "Tesuji" in client.get("/").text
    assert "immutable" in client.get("/assets/a.js").headers["cache-control"]
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt"):
        assert client.get(path).status_code == 404


def test_an_unknown_address_is_answered_in_a_sentence(client):
    answer = client.get("/api/nothing")
    assert answer.status_code == 404
    assert answer.json() == {"message": "there is nothing to get at /api/nothing"}


def test_the_description_of_the_api_is_read_without_internet(services, tmp_path):
    client = TestClient(make_app(services, tmp_path))
    assert client.get("/docs").url.path == "/openapi.json"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "swagger-ui-bundle.js").write_text("1")
    page = client.get("/docs")
    assert "docs/swagger-ui-bundle.js" in page.text and "https://" not in page.text


def test_the_openapi_document_has_the_sockets_messages_too(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert {"View", "FromPage", "FromServer", "TreeView", "Problem"} <= set(schemas)
