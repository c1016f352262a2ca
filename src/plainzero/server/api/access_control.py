"""Who may speak to the server: checks of Host, Origin, token and size, before anything is read.

A page of another site that a visitor has open can send requests to 127.0.0.1, and a name that it
controls can be made to point there; so a local server too must look at Host, at Origin, and at
Sec-Fetch-Site, which browsers also send with requests that have no Origin.
"""

import hmac
import ipaddress
import json
from typing import Any
from urllib.parse import urlsplit

from plainzero.server.options import ANY_HOST, LOCAL_HOSTS, ServerOptions

TOKEN_PROTOCOL = "plainzero.token."
_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        b"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
_DOCS = "/docs"  # has a script within the page
_OTHER_SITES = ("cross-site", "same-site")  # the latter: another port of this machine, say


class Guard:
    """An ASGI layer around the server.

    Args:
        app: what is guarded.
        options: host, names, token and the largest body.
    """

    def __init__(self, app: Any, options: ServerOptions) -> None:  # noqa: D107
        self._app, self._options = app, options
        hosts = {*LOCAL_HOSTS, options.host, *options.names} - set(ANY_HOST)
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Passes on what is allowed, and refuses the rest in one sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = self._refusal(scope, headers)
        if refused is not None:
            await _refuse(scope, receive, send, *refused)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            limit = _Limit(receive, _with_headers(scope, send), self._options.limits.body_bytes)
            await self._app(scope, limit.receive, limit.send)
            if limit.is_unanswered:
                await _refuse(scope, receive, send, *self._too_long())

    def _refusal(self, scope: Any, headers: dict[str, str]) -> tuple[int, str] | None:
        """The status and the sentence, where the request is not allowed."""
        host = headers.get("host", "")
        if not self._is_own_name(_host_name(host)):
            return 403, (
                f"this server is not called {host!r}; start it with --name for other host names"
            )
        origin = headers.get("origin")
        if origin is not None and _origin_host(origin) != host.lower():
            return 403, f"requests from pages of {origin} are not answered"
        is_api = scope["path"].startswith("/api")
        if is_api and headers.get("sec-fetch-site") in _OTHER_SITES:
            return 403, "requests from pages of other sites are not answered"
        size = headers.get("content-length", "0")
        if size.isdigit() and int(size) > self._options.limits.body_bytes:
            return self._too_long()
        if is_api and not self._has_token(scope, headers):
            return 401, "this server needs its token: open the address that it printed"
        return None

    def _too_long(self) -> tuple[int, str]:
        return 413, f"the request is too long: {self._options.limits.body_bytes:,} bytes at most"

    def _is_own_name(self, name: str) -> bool:
        """Whether the server is meant; a name that points here by another's will is not its own.

        Where others may reach it, every address counts: only names can be made to point elsewhere.
        """
        return name in self._hosts or (not self._options.is_local and _is_address(name))

    def _has_token(self, scope: Any, headers: dict[str, str]) -> bool:
        if not self._options.token:
            return True
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if scope["type"] == "websocket":
            protocols = [
                name.strip() for name in headers.get("sec-websocket-protocol", "").split(",")
            ]
            tokens = [name for name in protocols if name.startswith(TOKEN_PROTOCOL)]
            given = tokens[0].removeprefix(TOKEN_PROTOCOL) if tokens else given
        return hmac.compare_digest(given.encode(), self._options.token.encode())


class _Limit:
    """Cuts off a body that is longer than it said, or than is allowed.

    To the application the client is gone then; what it still answers is held back, unless it has
    begun to before.
    """

    def __init__(self, receive: Any, send: Any, most: int) -> None:
        self._receive, self._send, self._left = receive, send, most
        self._has_begun = False

    async def receive(self) -> Any:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            return {"type": "http.disconnect"}
        return message

    async def send(self, message: Any) -> None:
        if not self.is_unanswered:
            self._has_begun = True
            await self._send(message)

    @property
    def is_unanswered(self) -> bool:
        """Whether the body was cut off before there was an answer."""
        return self._left < 0 and not self._has_begun


def _host_name(host: str) -> str:
    """The name in a Host header, in small letters, without its port."""
    host = host.lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _origin_host(origin: str) -> str | None:
    """The host and port of an Origin header; None where it has none."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _with_headers(scope: Any, send: Any) -> Any:
    """A `send` that adds the headers of a careful page."""

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start" and scope["path"] != _DOCS:
            message = {**message, "headers": [*message["headers"], *_HEADERS]}
        await send(message)

    return sending


async def _refuse(scope: Any, receive: Any, send: Any, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": sentence[:120]})
        return
    body = json.dumps({"message": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
