"""`plainzero serve`: a web page to play, watch searches and train."""

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
_MORE_PORTS = 20  # tried if the default port is in use


def serve(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="Runs to play against, or folders of runs."),
    ] = None,
    games: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="GAME", help="Your own game: FILE.py."),
    ] = None,
    train: Annotated[
        str | None,
        typer.Option(metavar="GAME", help="Start or resume training this game in the background."),
    ] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="Training time, with --train.")] = 20.0,
    home: Annotated[Path, typer.Option(help="Folder for new runs.")] = Path("runs"),
    ladders: Annotated[
        Path, typer.Option(help="Folder of your ladders, as `plainzero rate GAME` makes them.")
    ] = Path("ladders"),
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help=f"Port; default {DEFAULT_PORT} or the next free one."),
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="Token for all clients; generated if --host is not local.")
    ] = None,
    names: Annotated[
        list[str] | None, typer.Option("--name", help="Another host name of this server.")
    ] = None,
    can_train: Annotated[
        bool, typer.Option("--training/--no-training", help="Allow clients to train.")
    ] = True,
    niceness: Annotated[
        int, typer.Option("--nice", min=0, max=19, help="Niceness of training processes.")
    ] = 10,
    opens: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = False,
) -> None:
    """Play, watch searches and train in the browser.

    Example: [bold]plainzero serve --open[/]

    Your own game: [bold]plainzero serve --game my_game.py[/]

    Train and play: [bold]plainzero serve --train connect-four --minutes 20 --open[/]

    By default only this machine can reach the page. For others, use [bold]--host 0.0.0.0[/]: it
    prints an address that contains a token. The API is documented at /docs.
    """
    with ExitStack() as open_things:
        with refusing((games or [""])[0]):
            from plainzero.server.app import Server
            from plainzero.server.options import ANY_HOST, LOCAL_HOSTS, ServerOptions

            for run in runs or []:
                if not any([*run.glob("config.toml"), *run.glob("*/config.toml")]):
                    raise BadInput(f"there is no run in {run}; `plainzero train` creates one")
            listening = open_things.enter_context(_listen(host, port))
            if token is None:
                token = "" if host in LOCAL_HOSTS else secrets.token_urlsafe(16)
            options = ServerOptions(
                runs=tuple(runs or ()),
                games=tuple(games or ()),
                default_game=train or "",
                home=home,
                ladders=ladders,
                can_train=can_train,
                niceness=niceness,
                host=host,
                port=listening.getsockname()[1],
                token=token,
                names=(*(names or ()), *([socket.gethostname()] if host in ANY_HOST else [])),
            )
            server = Server(options, echo=typer.echo)
            training = server.train(minutes) if train is not None else ""
        _print_address(options, server, training)
        if opens:
            threading.Timer(0.5, webbrowser.open, (options.address,)).start()
        server.serve(listening)


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on the given port, or on the first free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _MORE_PORTS) if port is None else [port]
    for candidate in ports:
        listening = socket.socket(family)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, candidate))
            listening.listen()  # early clients wait until the server is ready
            return listening
        except OSError as error:
            listening.close()
            if error.errno != errno.EADDRINUSE:
                raise BadInput(f"cannot listen on {host}: {error.strerror}") from None
    raise BadInput(f"port {ports[-1]} of {host} is in use; choose another with --port")


def _print_address(options: "ServerOptions", server: "Server", training: str) -> None:
    typer.echo(f"PlainZero is at {options.address}   (press Ctrl-C to stop)")
    if training:
        typer.echo(training)
    if not server.has_page:
        typer.echo("The page was not built, because Node.js was missing. The API works: /docs")
