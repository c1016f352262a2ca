"""Access control: checks Host, Origin, token and size before a request is read.

A page of another site can send requests to 127.0.0.1, and a domain name can resolve to it. So a
local server must check Host, Origin, and Sec-Fetch-Site, which browsers also send with requests
without an Origin.
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
_OTHER_SITES = ("cross-site", "same-site")  # the latter includes other ports of this machine


class AccessControl:
    """ASGI middleware that refuses requests by Host, Origin, token or size.

    Args:
        app: the application behind it.
        options: host, names, token and the largest body.
    """

    def __init__(self, app: Any, options: ServerOptions) -> None:  # noqa: D107
        self._app, self._options = app, options
        hosts = {*LOCAL_HOSTS, options.host, *options.names} - set(ANY_HOST)
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Passes an allowed request on, and answers any other with one sentence."""
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
            limit = _Limit(receive, _with_headers(send), self._options.limits.body_bytes)
            await self._app(scope, limit.receive, limit.send)
            if limit.is_unanswered:
                await _refuse(scope, receive, send, *self._too_long())

    def _refusal(self, scope: Any, headers: dict[str, str]) -> tuple[int, str] | None:
        """The status and message for a request that is not allowed; None for an allowed one."""
        host = headers.get("host", "")
        if not self._is_own_name(_host_name(host)):
            return 403, (f"unknown host name {host!r}; start the server with --name to allow it")
        origin = headers.get("origin")
        if origin is not None and _origin_host(origin) != host.lower():
            return 403, f"requests from pages of {origin} are not allowed"
        is_api = scope["path"].startswith("/api")
        if is_api and headers.get("sec-fetch-site") in _OTHER_SITES:
            return 403, "requests from pages of other sites are not allowed"
        size = headers.get("content-length", "0")
        if size.isdigit() and int(size) > self._options.limits.body_bytes:
            return self._too_long()
        if is_api and not self._has_token(scope, headers):
            return 401, "missing or wrong token: open the address that the server printed"
        return None

    def _too_long(self) -> tuple[int, str]:
        return (
            413,
            f"the request is longer than {self._options.limits.body_bytes:,} bytes",
        )

    def _is_own_name(self, name: str) -> bool:
        """Whether a Host header names this server.

        If it is not local, every IP address does: only domain names can be made to resolve to it.
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
    """Cuts off a body that is longer than declared or allowed.

    The application then sees a disconnected client; its answer is dropped unless it has begun.
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
        """Whether the body was cut off before the answer began."""
        return self._left < 0 and not self._has_begun


def _host_name(host: str) -> str:
    """The name in a Host header, in lower case and without its port."""
    host = host.lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _origin_host(origin: str) -> str | None:
    """The host and port of an Origin header; None if it has none."""
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


def _with_headers(send: Any) -> Any:
    """A `send` that adds the security headers."""

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
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
    start = {"type": "http.response.start", "status": status, "headers": headers}
    await _with_headers(send)(start)
    await send({"type": "http.response.body", "body": body})
