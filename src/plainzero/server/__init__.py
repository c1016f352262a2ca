"""The server of the page: HTTP for single requests, a WebSocket for streams.

`app.py` assembles it; `api/schemas/` has all messages, from which the page's TypeScript is
generated. A request carries its whole position (game, setup, moves), so the server stores no games;
it only caches traces of searches, each for the connection that asked for it.
"""
