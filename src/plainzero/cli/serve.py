"""`plainzero serve`: the page on which a person plays, watches the search think, and trains."""

import errno
import secrets
import socket
import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plainzero.cli.terminal.errors import BadInput, refusing

if TYPE_CHECKING:
    from plainzero.server.app import Server
    from plainzero.server.options import ServerOptions

DEFAULT_PORT = 8420
_MORE_PORTS = 20  # tried after the default one, where that is taken


def serve(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN]...", help="Runs to play against, or folders of runs."),
    ] = None,
    games: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="GAME", help="A game of your own, my_game.py:MyGame."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="Learn this game in the background, or go on with it."),
    ] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="How long, with --train.")] = 20.0,
    home: Annotated[Path, typer.Option(help="The folder in which the page begins runs.")] = Path(
        "runs"
    ),
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help=f"{DEFAULT_PORT}, or the next free one.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="Asked of every client; made up with another --host.")
    ] = None,
    names: Annotated[
        list[str] | None, typer.Option("--name", help="Another host name it is reached by.")
    ] = None,
    can_train: Annotated[
        bool, typer.Option("--training/--no-training", help="Whether the page may train.")
    ] = True,
    opens: Annotated[bool, typer.Option("--open/--no-open", help="Open the page.")] = False,
) -> None:
    """Play, watch the search think and follow training, in the browser.

    Example: [bold]plainzero serve --open[/]

    A game of your own: [bold]plainzero serve --game my_game.py:MyGame[/]

    Learn and play at once: [bold]plainzero serve --train connect-four --minutes 20 --open[/]

    For other machines: [bold]--host 0.0.0.0[/] prints an address with a token in it.

    Without it, only this machine can reach the page. The API is described at /docs.
    """
    with ExitStack() as open_things:
        with refusing((games or [""])[0]):
            from plainzero.server.app import Server
            from plainzero.server.options import ANY_HOST, LOCAL_HOSTS, ServerOptions

            for run in runs or []:
                if not any([*run.glob("config.toml"), *run.glob("*/config.toml")]):
                    raise BadInput(f"there is no run in {run}; `plainzero train` makes one")
            listening = open_things.enter_context(_listen(host, port))
            if token is None:
                token = "" if host in LOCAL_HOSTS else secrets.token_urlsafe(16)
            options = ServerOptions(
                runs=tuple(runs or ()),
                games=tuple(games or ()),
                default_game=train or "",
                home=home,
                can_train=can_train,
                host=host,
                port=listening.getsockname()[1],
                token=token,
                names=(*(names or ()), *([socket.gethostname()] if host in ANY_HOST else [])),
            )
            server = Server(options, say=typer.echo)
            news = server.train(minutes) if train is not None else ""
        _say_where(options, server, news)
        if opens:
            threading.Timer(0.5, webbrowser.open, (options.address,)).start()
        server.serve(listening)


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket at the port that was asked for, or at the first free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _MORE_PORTS) if port is None else [port]
    for candidate in ports:
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen()  # from now on, who comes early waits
            return listening
        except OSError as error:
            listening.close()
            if error.errno != errno.EADDRINUSE:
                raise BadInput(f"{host} cannot be listened at: {error.strerror}") from None
    raise BadInput(f"{host} port {ports[-1]} cannot be used: it is in use; give another --port")


def _say_where(options: "ServerOptions", server: "Server", news: str) -> None:
    typer.echo(f"PlainZero is at {options.address}   (Ctrl-C ends it)")
    if news:
        typer.echo(news)
    if not server.has_page:
        typer.echo("The page was not built, because Node.js was missing; the API works: /docs")
