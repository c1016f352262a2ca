"""The `plainzero` command: all subcommands, and one sentence for each kind of bad input."""

import os
import re
import sys
from typing import Annotated, Any

import typer

from plainzero import __version__
from plainzero.cli import (
    bench,
    check,
    curve,
    doctor,
    evaluate,
    export,
    games,
    gomocup,
    gtp,
    match,
    play,
    positions,
    rate,
    search,
    serve,
    show,
    sweep,
    train,
    yardstick,
)
from plainzero.cli.terminal.errors import BAD_INPUT, INTERRUPTED, BadInput, package_advice
from plainzero.cli.terminal.help_texts import tidy_help

_REQUIREMENTS = {  # by pydantic's type of error
    "float_parsing": "a number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "greater_than_equal": "{ge:g} or more",
    "less_than_equal": "{le:g} or less",
}

app = typer.Typer(
    name="plainzero",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Start with [bold]plainzero play connect-four[/] or [bold]plainzero search trio[/].",
)
app.command("games")(games.show_games)
app.command("check")(check.check)
app.command("search")(search.search)
app.command("play")(play.play)
app.command("show")(show.show)
app.command("serve")(serve.serve)
app.command("train")(train.train)
app.command("doctor")(doctor.doctor)
app.command("export")(export.export)
app.command("positions")(positions.positions)
app.command("match")(match.match)
app.command("rate")(rate.rate)
app.command("gtp")(gtp.gtp)
app.command("gomocup")(gomocup.gomocup)
app.command("evaluate")(evaluate.evaluate)
app.command("yardstick")(yardstick.yardstick)
app.command("curve")(curve.curve)
app.command("sweep")(sweep.sweep)
app.add_typer(bench.app, name="bench")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command in `arguments` (by default the process's own) and returns its exit code."""
    try:
        command: Any = typer.main.get_command(app)
        tidy_help(command)
        return command(args=arguments, prog_name="plainzero", standalone_mode=False) or 0
    except BadInput as error:
        return _refuse(str(error))
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # it has already printed the help
            return BAD_INPUT
        return _refuse(_usage_sentence(error))
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe, as in `plainzero games | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ImportError as error:
        if sentence := package_advice(error):
            return _refuse(sentence)
        raise
    except (OSError, UnicodeEncodeError) as error:
        return _refuse(f"cannot write the output: {error}")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"plainzero {__version__}")
        raise typer.Exit


@app.callback()
def _plainzero(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Write a game once, in plain Python; get an AlphaZero player for it.

    GAME is a bundled game (connect-four), a bundled game with parameters in quotes
    ("connect-four(rows=7,cols=8)"), or your own: my_game.py, or my_game.py:MyGame.
    """


def _usage_sentence(error: typer.TyperException) -> str:
    """Typer's message in one line, with the rejected value and where to read more."""
    message = getattr(error, "format_message", error.__str__)().strip(" .?")
    cause: Any = error.__cause__
    if rejected := getattr(cause, "errors", None):  # a value of the wrong type or out of range
        message = _value_sentence(message, error, rejected()[0])
    message = re.sub(r"\.? Did you mean (.*)", r"; did you mean \1?", message)
    message = re.sub(r" \(Possible options: (.*)\)", r"; did you mean \1?", message)
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "plainzero"
    separator = " See" if message.endswith("?") else "; see"
    return f"{message[:1].lower()}{message[1:]}{separator} {command} --help"


def _value_sentence(message: str, error: Any, rejected: dict[str, Any]) -> str:
    """What a value must be; typer's own message for unusual types."""
    requirement = _REQUIREMENTS.get(rejected["type"])
    if requirement is not None and error.param is not None:
        name = error.param.get_error_hint().strip("'")
        message = f"{name} must be {requirement.format(**rejected.get('ctx', {}))}"
    return f"{message}, not {rejected['input']!r}"


def _refuse(sentence: str) -> int:
    print(f"plainzero: {' '.join(sentence.split())}", file=sys.stderr)
    return BAD_INPUT
