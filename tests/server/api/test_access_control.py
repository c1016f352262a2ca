"""Access control: which requests are accepted, and how others are refused."""

import asyncio
import dataclasses

import httpx2 as httpx
import pytest

from plainzero.server.api.access_control import AccessControl
from plainzero.server.options import DEFAULT_LIMITS, ServerOptions

LOCAL = ServerOptions()
REMOTE = ServerOptions(host="0.0.0.0", token="secret", names=("box.example",))


async def echo(scope, receive, send):
    """An application that answers with the length of the body, also where that is cut off."""
    length, more = 0, True
    while more:
        message = await receive()
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(length).encode()})


def ask(options, path="/api/about", **request):
    async def send():
        transport = httpx.ASGITransport(AccessControl(echo, options))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8420"
        ) as client:
            return await client.request(request.pop("method", "GET"), path, **request)

    return asyncio.run(send())


def test_a_request_from_this_machine_is_answered():
    assert ask(LOCAL).status_code == 200


@pytest.mark.parametrize("host", ["localhost:8420", "LocalHost", "127.0.0.1", "[::1]:8420"])
def test_local_names_are_fine(host):
    assert ask(LOCAL, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8420", "127.0.0.1.evil.example", ""]
)
def test_another_host_name_is_refused(host):
    answer = ask(LOCAL, headers={"host": host})
    assert answer.status_code == 403
    assert "unknown host name" in answer.json()["message"]


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://127.0.0.1:9999",
        "null",
        "http://localhost:8420",
        "http://[",
        "",
    ],
)
def test_pages_of_other_origins_are_refused(origin):
    answer = ask(LOCAL, headers={"origin": origin})
    assert answer.status_code == 403
    assert "not allowed" in answer.json()["message"]


def test_the_page_itself_may_ask():
    for site in ("same-origin", "none"):  # none: the address bar
        headers = {"origin": "http://127.0.0.1:8420", "sec-fetch-site": site}
        assert ask(LOCAL, headers=headers).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_are_refused_also_where_browsers_send_no_origin(site):
    answer = ask(LOCAL, headers={"sec-fetch-site": site})
    assert answer.status_code == 403
    assert "pages of other sites are not allowed" in answer.json()["message"]
    assert ask(LOCAL, "/", headers={"sec-fetch-site": site}).status_code == 200  # a link to it


def test_without_the_token_nothing_is_answered():
    assert ask(REMOTE).status_code == 401
    assert ask(REMOTE, headers={"authorization": "Bearer wrong"}).status_code == 401
    assert ask(REMOTE, headers={"authorization": "Bearer secrét".encode()}).status_code == 401
    assert ask(REMOTE, headers={"authorization": "Bearer secret"}).status_code == 200


def test_the_page_itself_needs_no_token():
    assert ask(REMOTE, "/").status_code == 200


def test_a_name_that_was_given_is_fine():
    headers = {"host": "box.example", "authorization": "Bearer secret"}
    assert ask(REMOTE, headers=headers).status_code == 200


def test_an_address_is_fine_where_others_may_come_and_a_name_is_not():
    token = {"authorization": "Bearer secret"}
    for host in ("192.168.1.7:8420", "[2001:db8::1]:8420"):
        assert ask(REMOTE, headers={"host": host, **token}).status_code == 200
        assert ask(LOCAL, headers={"host": host}).status_code == 403
    assert ask(REMOTE, headers={"host": "evil.example", **token}).status_code == 403


def test_a_body_that_says_it_is_too_long_is_refused():
    small = dataclasses.replace(LOCAL, limits=DEFAULT_LIMITS.model_copy(update={"body_bytes": 10}))
    assert ask(small, method="POST", content=b"x" * 10).text == "10"
    answer = ask(small, method="POST", content=b"x" * 11)
    assert answer.status_code == 413
    assert "longer than" in answer.json()["message"]


def test_a_body_that_does_not_say_so_is_cut_off_and_refused():
    small = dataclasses.replace(LOCAL, limits=DEFAULT_LIMITS.model_copy(update={"body_bytes": 10}))

    async def pieces():
        for _ in range(4):
            yield b"x" * 5

    answer = ask(small, method="POST", content=pieces())
    assert answer.status_code == 413
    assert "longer than 10 bytes" in answer.json()["message"]


@pytest.mark.parametrize(
    ("options", "path", "request_headers", "status"),
    [
        (LOCAL, "/", {}, 200),
        (LOCAL, "/docs", {}, 200),
        (LOCAL, "/api/about", {}, 200),
        (REMOTE, "/api/about", {}, 401),
        (LOCAL, "/", {"host": "evil.example"}, 403),
        (LOCAL, "/api/about", {"content-length": "1" * 12}, 413),
    ],
)
def test_answers_carry_a_content_security_policy(options, path, request_headers, status):
    answer = ask(options, path, headers=request_headers)
    assert answer.status_code == status
    headers = answer.headers
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy and "script" not in policy  # only its own scripts run
    assert "unsafe-eval" not in policy and "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"


def websocket(options, headers):
    """What the guard sends for a handshake; "passed" where it lets it through."""
    sent = []

    async def app(scope, receive, send):
        sent.append("passed")

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message["type"])

    scope = {
        "type": "websocket",
        "path": "/api/socket",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(AccessControl(app, options)(scope, receive, send))
    return sent


def test_a_socket_from_another_page_is_closed():
    host = {"host": "127.0.0.1:8420"}
    assert websocket(LOCAL, {**host, "origin": "http://127.0.0.1:8420"}) == ["passed"]
    assert websocket(LOCAL, {**host, "origin": "http://evil.example"}) == ["websocket.close"]


def test_a_socket_brings_its_token_as_a_protocol():
    host = {"host": "box.example"}
    assert websocket(REMOTE, host) == ["websocket.close"]
    good = {**host, "sec-websocket-protocol": "plainzero, plainzero.token.secret"}
    assert websocket(REMOTE, good) == ["passed"]
    bad = {**host, "sec-websocket-protocol": "plainzero, plainzero.token.wrong"}
    assert websocket(REMOTE, bad) == ["websocket.close"]
