"""Client errors get a message; internal errors are logged and not disclosed."""

import contextlib
import json
import re

import pytest
from fastapi.testclient import TestClient
from pydantic import TypeAdapter, ValidationError
from test_position_views import FAULTY, OWN

from plainzero.compiler.bind_rules import RuleError
from plainzero.games.contract import Game
from plainzero.games.registry import UnknownGame, make_game
from plainzero.search.config import parse_option
from plainzero.server.api.errors import INTERNAL_ERROR, is_client_error
from plainzero.server.app import make_app
from plainzero.server.options import ServerOptions
from plainzero.server.services import Services

LONG = "a" * 300


@pytest.fixture
def client(app):
    return TestClient(app, raise_server_exceptions=False)


def error_of(work, *arguments):
    with pytest.raises(Exception) as raised:
        work(*arguments)
    return raised.value


def play_wrongly():
    game = make_game("tic-tac-toe")
    game.apply(game.new_state(), 9)


@pytest.mark.parametrize(
    ("work", "arguments"),
    [(make_game, ["chess"]), (parse_option, ["c_puct", "much"]), (play_wrongly, [])],
)
def test_what_our_own_code_raises_is_a_refusal(work, arguments):
    assert is_client_error(error_of(work, *arguments))


@pytest.mark.parametrize(
    ("work", "arguments"),
    [
        (int, ["x"]),
        (json.loads, ["{"]),
        (TypeAdapter(int).validate_python, ["x"]),
        (Game.parse_action, [None, "x"]),  # an AttributeError
    ],
)
def test_what_others_raise_is_a_fault(work, arguments):
    assert not is_client_error(error_of(work, *arguments))


def test_what_python_raises_within_our_own_code_is_a_fault():
    error = error_of(make_game("tic-tac-toe").copy, "no state")
    assert isinstance(error, ValueError) and not is_client_error(error)


def test_rules_that_do_not_compile_are_told():
    assert is_client_error(RuleError("Mine.play (mine.py, line 3) is a lambda: write it with def"))


def test_an_error_that_nobody_raised_is_a_fault():
    assert not is_client_error(UnknownGame("chess"))
    assert issubclass(ValidationError, ValueError)  # which is why it has to be looked at


@pytest.mark.parametrize(
    ("method", "path", "request_", "status", "sentence"),
    [
        ("GET", f"/{LONG}", {}, 404, f"not found: GET /{LONG}"),
        ("GET", "/%00", {}, 404, "not found: GET /"),
        ("GET", "/api/nothing", {}, 404, "not found: GET /api/nothing"),
        ("GET", "/api/play", {}, 404, "not found: GET /api/play"),
        ("PUT", "/api/play", {}, 405, "PUT is not allowed for /api/play; allowed: POST"),
        ("POST", "/api/import", {"content": b"\xff"}, 400, "the request is not valid JSON"),
        ("POST", "/api/import", {"content": b"{"}, 422, "the request is not valid JSON: "),
        ("POST", "/api/import", {"json": {}}, 422, "content is missing"),
        ("POST", "/api/import", {"json": {"content": True}}, 422, "content: .*; got true$"),
        ("POST", "/api/import", {"content": b'{"content": "\\ud800"}'}, 422, "content: "),
        ("POST", "/api/import", {"json": {"content": "", "x": 1}}, 422, "unknown field x"),
        ("GET", "/api/runs/a b", {}, 422, 'invalid run "a b": use 1 to 100 letters, digits and '),
        ("POST", "/api/runs", {"json": {"game": "trio", "run": "a b"}}, 422, 'invalid run "a b": '),
        ("POST", "/api/position", {"json": {"game": "chess"}}, 422, "unknown game 'chess'"),
    ],
)
def test_a_refusal_is_a_whole_sentence(client, method, path, request_, status, sentence):
    answer = client.request(method, path, **request_, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert re.match(sentence, answer.json()["message"]), answer.text


@pytest.mark.parametrize("headers", [{}, {"content-type": "text/plain"}])
def test_a_body_that_is_not_declared_as_json_is_refused_without_quoting_it(client, headers):
    answer = client.post("/api/position", content=b'{"game": "trio"}', headers=headers)
    assert answer.status_code == 415
    message = "the request body must have Content-Type: application/json"
    assert answer.json() == {"message": message}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/position", {"game": "connect-four", "moves": [3, 9]}),
        ("/api/play", {"position": {"game": "connect-four", "moves": [3]}, "action": 9}),
    ],
)
def test_legal_actions_are_listed_as_requests_write_them(client, path, body):
    message = client.post(path, json=body).json()["message"]
    assert message.endswith("action 9 is not legal; legal actions: 0, 1, 2, 3, 4, 5, 6")
    body = {"position": {"game": "connect-four"}, "name": "9"}
    assert client.post("/api/play", json=body).json()["message"].endswith("1 2 3 4 5 6 7")


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        (
            "/api/export",
            {"position": {"game": "faulty", "moves": [1]}, "format": "json", "players": []},
            "the rules of faulty raise IndexError",
        ),
        (
            "/api/import",
            {
                "content": '{"format": "plainzero-game", "version": 1, "game": "faulty(fault=1)", '
                '"moves": ["0"]}'
            },
            "the rules of faulty(fault=1) raise OverflowError",
        ),
    ],
)
def test_rules_that_fail_while_a_game_is_saved_or_read_are_told(tmp_path, path, body, sentence):
    source = tmp_path / "faulty.py"
    source.write_text(OWN + FAULTY)
    games = (f"{source}:Faulty",)
    options = ServerOptions(home=tmp_path, games=games, can_train=False, names=("testserver",))
    with contextlib.closing(Services(options)) as services:
        answer = TestClient(make_app(services)).post(path, json=body)
    assert answer.status_code == 422
    assert answer.json()["message"].startswith(sentence)


def test_head_is_answered_like_get(client):
    assert client.head("/").status_code == client.get("/").status_code
    assert client.head(f"/{LONG}").status_code == 404


@pytest.mark.parametrize("error", [TypeError("/secret/path"), FileNotFoundError(2, "x", "/secret")])
def test_an_internal_error_is_logged_and_answered_without_its_text(app, services, error):
    def fail():
        raise error

    services.catalogue.infos, infos = fail, services.catalogue.infos
    try:
        answer = TestClient(app, raise_server_exceptions=False).get("/api/games")
        with pytest.raises(type(error)):  # what leaves the application is logged by uvicorn
            TestClient(app).get("/api/games")
    finally:
        services.catalogue.infos = infos
    assert (answer.status_code, answer.json()) == (500, {"message": INTERNAL_ERROR})
