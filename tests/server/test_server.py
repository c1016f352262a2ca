"""The whole server through its front door: HTTP and the WebSocket, in this process."""

import asyncio
import contextlib
import shutil

import pytest
from fastapi import WebSocket, WebSocketDisconnect
from fastapi.testclient import TestClient
from small_runs import copy_finished, wait_until

from plainzero import SearchConfig, StopFlag, make_game, search
from plainzero.opponents.alpha_beta import AlphaBeta
from plainzero.server.api.schemas.searching import PerfectAgent
from plainzero.server.api.socket import Connection, Request
from plainzero.server.app import make_app
from plainzero.server.options import DEFAULT_LIMITS, ServerOptions
from plainzero.server.searching.scheduler import Slot, SlotQueue
from plainzero.server.searching.solver_agents import make_analysis
from plainzero.server.services import Services

GAME = {"game": "tic-tac-toe", "moves": [0, 4]}
UNIFORM = {"kind": "search", "evaluator": "uniform", "simulations": 300}


LIMITS = DEFAULT_LIMITS.model_copy(update={"seconds": 1e6})  # so that only `stop` ends a search


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    home = tmp_path_factory.mktemp("runs")
    options = ServerOptions(home=home, can_train=False, limits=LIMITS, names=("testserver",))
    return Services(options)


@pytest.fixture(scope="module")
def client(services):
    with TestClient(make_app(services)) as client:  # which closes the services at its end
        for player in ({"kind": "search", "simulations": 1}, {"kind": "alphabeta", "depth": 1}):
            body = {"position": {"game": "connect-four", "moves": []}, "agent": player}
            assert client.post("/api/search", json=body).is_success  # compiled from here on
        yield client


@pytest.fixture
def socket(client):
    with client.websocket_connect("/api/socket", subprotocols=["plainzero"]) as socket:
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
    body = {"position": GAME, "agent": UNIFORM, "seed": 5}
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
    socket.send_json({"type": "search", "id": "a", "position": GAME, "agent": UNIFORM, "seed": 5})
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
    answer = client.post("/api/search", json={"position": GAME, "agent": player})
    assert answer.status_code == 200, answer.text
    assert answer.json()["action"] not in GAME["moves"]
    assert len(answer.json()["analysis"]["moves"]) == 7


def test_alpha_beta_sees_a_win_in_one(client):
    position = {"game": "tic-tac-toe", "moves": [0, 3, 1, 4]}
    for player in ({"kind": "alphabeta", "depth": 2}, {"kind": "perfect"}):
        answer = client.post("/api/search", json={"position": position, "agent": player}).json()
        assert answer["name"] == "c1"


def test_threats_are_answered_in_gomoku_and_refused_elsewhere(client):
    player = {"kind": "search", "evaluator": "threats", "simulations": 20}
    moves = [16, 20, 17, 210, 18, 211, 19]  # four in a row, with one end open
    position = {"game": "gomoku", "moves": moves}
    answer = client.post("/api/search", json={"position": position, "agent": player})
    assert answer.json()["action"] == 15
    refused = client.post("/api/search", json={"position": GAME, "agent": player})
    assert refused.status_code == 422
    assert "the threats agent plays gomoku only" in refused.text


def test_outcomes_are_those_of_perfect_play(client):
    position = {"game": "tic-tac-toe", "moves": [0, 4, 1]}
    answer = client.post("/api/outcomes", json={"position": position}).json()
    assert answer["is_solved"]
    assert {move["name"]: move["outcome"] for move in answer["moves"]}["c1"] == 0
    assert {move["outcome"] for move in answer["moves"] if move["name"] != "c1"} == {-1}


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"simulations": 300_000}, "exceed the limits of 200,000 and 1e+06"),
        ({"simulations": 0}, "the search has no budget"),
        ({"options": {"trace": True}}, "unknown option 'trace'"),
        ({"options": {"cpuct": 1}}, "unknown option 'cpuct'"),
        ({"options": {"c_puct": "big"}}, "it must be a number"),
        ({"options": {"rollouts": 1000}}, "the limit is 100"),
        ({"options": {"rollouts": 10, "leaves": 100}}, "leaves × rollouts is 1000"),
        ({"evaluator": "network"}, "needs a run"),
        ({"evaluator": "network", "run": "nobody"}, "nobody"),
        ({"evaluator": "network", "run": "../../etc"}, "run"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_what_a_search_may_not_ask_is_said_in_a_sentence(client, change, sentence):
    body = {"position": GAME, "agent": {**UNIFORM, **change}}
    answer = client.post("/api/search", json=body)
    assert answer.status_code == 422
    assert sentence in answer.json()["message"]


def test_nothing_is_searched_when_the_game_is_over(client):
    position = {"game": "tic-tac-toe", "moves": [0, 3, 1, 4, 2]}
    answer = client.post("/api/search", json={"position": position, "agent": UNIFORM})
    assert "the game is over" in answer.json()["message"]


EMPTY = {"game": "connect-four", "moves": []}
LONG = {
    "kind": "search",
    "evaluator": "rollout",
    "simulations": 0,
    "seconds": 1e6,
    "options": {"rollouts": 100},
}
DEEP = {"kind": "alphabeta", "depth": 30, "seconds": 1e6}


def ask(socket, id_, player, position=EMPTY):
    socket.send_json({"type": "search", "id": id_, "position": position, "agent": player})


def receive_progress(socket):
    while (message := socket.receive_json())["type"] == "queued":
        pass
    assert message["type"] == "progress", message
    return message


@pytest.fixture
def idle(services):
    """Nothing of a neighbour's runs any more."""
    wait_until(lambda: not services.scheduler.running)


def test_a_stopped_search_answers_with_what_it_has(socket):
    ask(socket, "a", LONG)
    assert receive_progress(socket)["analysis"]["simulations"] > 0
    socket.send_json({"type": "stop", "id": "a"})
    assert receive(socket, "answer")["answer"]["analysis"]["simulations"] > 0


@pytest.mark.parametrize("player", [LONG, DEEP])
def test_a_search_stopped_right_after_it_was_asked_for_answers(socket, player):
    ask(socket, "a", player)
    socket.send_json({"type": "stop", "id": "a"})
    receive(socket, "answer")


def test_alpha_beta_tells_of_its_depths_and_can_be_stopped(socket):
    ask(socket, "a", DEEP)
    first = receive_progress(socket)["analysis"]
    assert len(first["moves"]) == 7 and first["best"] is not None
    receive_progress(socket)
    socket.send_json({"type": "stop", "id": "a"})
    assert not receive(socket, "answer")["answer"]["analysis"]["is_proven"]


def test_a_search_stopped_while_it_waits_answers(socket, idle):
    for number in range(3):  # two have a thread, one waits
        ask(socket, f"a{number}", LONG)
    while (message := socket.receive_json())["type"] != "queued":
        assert message["type"] == "progress"
    assert message["id"] == "a2"
    socket.send_json({"type": "stop", "id": "a2"})
    assert receive(socket, "answer")["id"] == "a2"


def test_perfect_play_that_is_stopped_says_so(socket):
    # The empty board of another size has no book, and takes minutes.
    ask(socket, "a", {"kind": "perfect"}, {"game": "connect-four(rows=7,cols=6)", "moves": []})
    socket.send_json({"type": "stop", "id": "a"})
    failure = receive(socket, "failure")
    assert "stopped" in failure["message"] and "ask again" in failure["message"]


def test_perfect_play_has_a_limit_of_time(tmp_path):
    limits = DEFAULT_LIMITS.model_copy(update={"seconds": 0.2})
    services = Services(ServerOptions(home=tmp_path, can_train=False, limits=limits))
    game = make_game("connect-four(rows=7,cols=6)")
    slot = Slot(SlotQueue(1), "a", StopFlag())
    with slot, pytest.raises(ValueError, match=r"not solved in 0.2 seconds; ask again"):
        services.agents.answer(game, game.new_state(), PerfectAgent(), 0, slot)
    services.close()


def test_alpha_beta_chooses_among_equals_by_its_seed(client):
    player = {"kind": "alphabeta", "depth": 2}
    position = {"game": "tic-tac-toe", "moves": []}
    chosen = []
    for seed in range(12):
        body = {"position": position, "agent": player, "seed": seed}
        chosen.append(client.post("/api/search", json=body).json()["action"])
    state = make_game("tic-tac-toe").new_state()
    agent = AlphaBeta(make_game("tic-tac-toe"), depth=2)
    assert chosen == [agent.choose([state], seed)[0] for seed in range(12)]
    assert len(set(chosen)) > 3


def test_sixteen_long_searches_of_one_page_do_not_hold_up_another(client, services, socket, idle):
    for number in range(16):
        ask(socket, f"long-{number}", LONG)
    wait_until(lambda: services.scheduler.num_waiting == 14)
    with client.websocket_connect("/api/socket") as other:
        ask(other, "short", UNIFORM, GAME)
        receive(other, "answer")
        health = client.get("/api/health").json()
        assert (health["started"], health["waiting"]) == (2, 14)  # all of them are still there


def test_a_page_that_goes_away_frees_its_search(client, services, idle):
    with client.websocket_connect("/api/socket") as socket:
        ask(socket, "a", LONG)
        receive_progress(socket)
        assert client.get("/api/health").json()["started"] == 1
    wait_until(lambda: not services.scheduler.running)


def pass_marker(socket):
    """Reads until the server has seen all that was sent before."""
    ask(socket, "marker", {"kind": "random"}, GAME)
    while (message := socket.receive_json())["type"] != "answer":
        assert message["type"] in ("queued", "progress")
    assert message["id"] == "marker"


def test_a_cancelled_search_says_nothing_more(socket, services):
    ask(socket, "a", LONG)
    receive_progress(socket)
    socket.send_json({"type": "cancel", "id": "a"})
    pass_marker(socket)
    wait_until(lambda: not services.scheduler.running)
    ask(socket, "b", UNIFORM, GAME)
    while (message := socket.receive_json())["type"] != "answer":
        assert message["id"] == "b"


def test_a_request_with_the_id_of_an_older_one_hears_nothing_of_that(socket):
    ask(socket, "a", LONG)
    receive_progress(socket)
    with_a_full_column = {"game": "connect-four", "moves": [0, 0, 0, 0, 0, 0]}
    ask(socket, "a", LONG, with_a_full_column)
    pass_marker(socket)
    socket.send_json({"type": "stop", "id": "a"})
    while (message := socket.receive_json())["type"] != "answer":
        assert len(message["analysis"]["moves"]) == 6
    assert len(message["answer"]["analysis"]["moves"]) == 6


def test_a_report_that_comes_after_its_request_was_ended_is_not_sent(services):
    async def report_late():
        connection = Connection(services, WebSocket({"type": "websocket"}, None, None))
        request = Request("a")
        report = connection._reporter(request)
        analysis = make_analysis(make_game("tic-tac-toe"), make_game("tic-tac-toe").new_state(), 0)
        report(analysis, 0.1)
        await asyncio.sleep(0.01)
        unsent = connection._queue.unsent
        request.is_open = False
        report(analysis, 0.2)
        await asyncio.sleep(0.01)
        assert 0 < unsent == connection._queue.unsent

    asyncio.run(report_late())


def test_a_page_that_watches_is_told_of_a_run_that_goes(tmp_path_factory, tmp_path):
    for name in ("goes", "stays"):
        copy_finished(tmp_path_factory, tmp_path / name)
    options = ServerOptions(home=tmp_path, can_train=False, names=("testserver",))
    with (
        TestClient(make_app(Services(options))) as client,
        client.websocket_connect("/api/socket") as socket,
    ):
        socket.send_json({"type": "follow-runs", "id": "w"})
        assert {socket.receive_json()["info"]["run"] for _ in range(2)} == {"goes", "stays"}
        shutil.rmtree(tmp_path / "goes")
        gone = socket.receive_json()
        assert gone == {"type": "run-removed", "id": "w", "run": "goes"}
        copy_finished(tmp_path_factory, tmp_path / "goes")  # and the page still hears of others
        assert socket.receive_json()["info"]["run"] == "goes"


def test_a_connection_ends_when_nothing_can_be_sent_any_more(services):
    async def connect():
        incoming = asyncio.Queue()
        incoming.put_nowait({"type": "websocket.connect"})
        incoming.put_nowait({"type": "websocket.receive", "text": "{"})  # is answered

        async def send(message):
            if message["type"] == "websocket.send":
                raise OSError("the line is dead")

        scope = {"type": "websocket", "client": ("test", 1), "subprotocols": []}
        await Connection(services, WebSocket(scope, incoming.get, send)).serve()

    asyncio.run(connect())
    assert not services.open_sockets["test"]


def test_too_many_pages_of_one_address_are_refused(client, services):
    with contextlib.ExitStack() as pages:
        for _ in range(64):
            pages.enter_context(client.websocket_connect("/api/socket"))
        with (
            pytest.raises(WebSocketDisconnect) as refused,
            client.websocket_connect("/api/socket"),
        ):
            pass
        assert refused.value.reason == "64 connections are open already"
    wait_until(lambda: not services.open_sockets)
    with client.websocket_connect("/api/socket"):
        pass


def test_a_trace_is_kept_to_look_at(socket):
    think = {"type": "trace", "id": "t", "position": GAME, "agent": UNIFORM, "seed": 5}
    socket.send_json(think)
    thought = receive(socket, "traced")
    result = the_same_search(trace=True)
    assert thought["simulations"] == 300 and thought["best"]["action"] == result.best_action
    socket.send_json({"type": "get-tree", "id": "t", "simulation": 300})
    tree = receive(socket, "tree")
    first = {node["move"]["action"]: node["visits"] for node in tree["nodes"] if node["depth"] == 1}
    assert first == {action: result.visits[action] for action in result.legal}
    socket.send_json({"type": "get-simulation", "id": "t", "simulation": 7})
    step = receive(socket, "simulation")
    assert [move["action"] for move in step["moves"]] == result.trace[6].actions
    socket.send_json({"type": "get-node", "id": "t", "simulation": 300, "node": 0})
    assert receive(socket, "node")["visits"] == 300


def test_a_trace_that_is_gone_is_said_to_be(socket):
    socket.send_json({"type": "get-tree", "id": "nothing", "simulation": 1})
    assert "was dropped" in receive(socket, "failure")["message"]


def test_messages_that_cannot_be_read_are_answered(socket):
    for text, id_ in (("{", ""), ('{"type": "search", "id": "x"}', "x"), ('{"type": "?"}', "")):
        socket.send_text(text)
        failure = receive(socket, "failure")
        assert failure["id"] == id_ and failure["message"]


def test_too_many_requests_of_one_page_are_refused(socket):
    for number in range(17):
        ask(socket, f"a{number}", LONG)
    assert "requests are open already" in receive(socket, "failure")["message"]


def test_the_event_loop_answers_while_searches_run(client, socket, idle):
    for number in range(2):
        ask(socket, f"a{number}", LONG)
        receive_progress(socket)
    assert client.get("/api/games").status_code == 200
    assert client.get("/api/health").json()["started"] == 2


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
    (tmp_path / "page" / "index.html").write_text("<title>PlainZero</title>")
    (tmp_path / "page" / "assets" / "a.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    client = TestClient(make_app(services, tmp_path / "page"))
    assert "PlainZero" in client.get("/").text
    assert "immutable" in client.get("/assets/a.js").headers["cache-control"]
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt"):
        assert client.get(path).status_code == 404


def test_an_unknown_address_is_answered_in_a_sentence(client):
    answer = client.get("/api/nothing")
    assert answer.status_code == 404
    assert answer.json() == {"message": "not found: GET /api/nothing"}


def test_the_description_of_the_api_is_read_without_internet(services, tmp_path):
    client = TestClient(make_app(services, tmp_path))
    assert client.get("/docs").url.path == "/openapi.json"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "swagger-ui-bundle.js").write_text("1")
    page = client.get("/docs")
    assert "docs/swagger-ui-bundle.js" in page.text and "https://" not in page.text
    assert "<script>" not in page.text  # the Content-Security-Policy would refuse it
    assert "openapi.json" in client.get("/docs/start.js").text


def test_the_openapi_document_has_the_sockets_messages_too(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert {"View", "FromClient", "FromServer", "TreeView", "Problem"} <= set(schemas)
