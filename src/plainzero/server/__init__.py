"""The page's server: HTTP for questions, one WebSocket for searches and for runs to follow.

`app.py` puts it together; `messages/` is everything that goes over the wire, typed once, and the
page's TypeScript is made from it. A request carries the whole position (the game, how it began, the
moves), so the server keeps no games; what it keeps is searches to look at, and those of one
connection only.
"""
