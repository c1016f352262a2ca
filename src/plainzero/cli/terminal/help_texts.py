"""Help texts that fit the terminal's width, without the names of Python's types."""

from pathlib import Path
from typing import Any

import typer


def tidy_help(command: Any) -> None:
    """Rewrites the help of a command and its subcommands; typer keeps a docstring's line breaks."""
    if command.help:
        paragraphs = command.help.split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    for parameter in command.get_params(typer.Context(command)):
        _tidy_parameter(parameter)
    for subcommand in getattr(command, "commands", {}).values():
        tidy_help(subcommand)


def _tidy_parameter(parameter: Any) -> None:
    label = _label(parameter)
    parameter.display_type_rich = lambda ctx: label
    parameter.min = parameter.max = None  # only shown; values are checked by their type
    if isinstance(parameter.show_default, str):  # typer puts it in parentheses
        parameter.help += f" [dim]\\[default: {parameter.show_default}][/]"
        parameter.show_default = False


def _label(parameter: Any) -> str:
    """What follows an option: nothing for flags, else its metavar or what it takes."""
    if parameter.param_type_name == "argument" or parameter.is_flag:
        return ""
    if parameter.metavar is not None:
        return str(parameter.metavar)
    annotation = parameter.type_descriptor.annotation
    kinds = {annotation, *getattr(annotation, "__args__", ())}  # Path | None, list[Path]
    if kinds & {int, float}:
        return "NUMBER"
    return "PATH" if Path in kinds else str(parameter.opts[-1]).lstrip("-").upper()
