"""What is refused in a sentence of ours, and what is a fault: told to the log, not to the world."""

import contextlib
import json
import re

import pytest
from fastapi.testclient import TestClient
from pydantic import TypeAdapter, ValidationError
from test_served_positions import FAULTY, OWN

from plainzero.compiler.bind_rules import RuleError
from plainzero.games.contract import Game
from plainzero.games.registry import UnknownGame, make_game
from plainzero.search.config import parse_option
from plainzero.server.api.errors import FAULT, is_refusal
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
    assert is_refusal(error_of(work, *arguments))


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
    assert not is_refusal(error_of(work, *arguments))


def test_what_python_raises_within_our_own_code_is_a_fault():
    error = error_of(make_game("tic-tac-toe").copy, "no state")
    assert isinstance(error, ValueError) and not is_refusal(error)


def test_rules_that_do_not_compile_are_told():
    assert is_refusal(RuleError("Mine.play (mine.py, line 3) is a lambda: write it with def"))


def test_an_error_that_nobody_raised_is_a_fault():
    assert not is_refusal(UnknownGame("chess"))
    assert issubclass(ValidationError, ValueError)  # which is why it has to be looked at


@pytest.mark.parametrize(
    ("method", "path", "request_", "status", "sentence"),
    [
        ("GET", f"/{LONG}", {}, 404, f"there is nothing to get at /{LONG}"),
        ("GET", "/%00", {}, 404, "there is nothing to get at /"),
        ("GET", "/api/nothing", {}, 404, "there is nothing to get at /api/nothing"),
        ("GET", "/api/play", {}, 404, "there is nothing to get at /api/play"),
        ("PUT", "/api/play", {}, 405, "PUT is not answered at /api/play; allowed: POST"),
        ("POST", "/api/import", {"content": b"\xff"}, 400, "the request is not JSON"),
        ("POST", "/api/import", {"content": b"{"}, 422, "the request is not JSON: "),
        ("POST", "/api/import", {"json": {}}, 422, "content is missing"),
        ("POST", "/api/import", {"json": {"content": 7}}, 422, "content: .* given was 7"),
        ("POST", "/api/import", {"json": {"content": "", "x": 1}}, 422, "x is not known here"),
        ("POST", "/api/position", {"json": {"game": "chess"}}, 422, "there is no game 'chess'"),
    ],
)
def test_a_refusal_is_a_whole_sentence(client, method, path, request_, status, sentence):
    answer = client.request(method, path, **request_, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert re.match(sentence, answer.json()["message"]), answer.text


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
def test_a_fault_is_confessed_without_its_text_and_goes_on_to_the_log(app, services, error):
    def fail():
        raise error

    services.catalogue.infos, infos = fail, services.catalogue.infos
    try:
        answer = TestClient(app, raise_server_exceptions=False).get("/api/games")
        with pytest.raises(type(error)):  # what leaves the application is logged by uvicorn
            TestClient(app).get("/api/games")
    finally:
        services.catalogue.infos = infos
    assert (answer.status_code, answer.json()) == (500, {"message": FAULT})
