"""A game's parameters: annotated class attributes, their types, and their values in its name."""

import ast
import dataclasses
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints


def declare_parameters(cls: type) -> None:
    """Makes the annotated class attributes of a new game class its parameters.

    Raises:
        TypeError: if the class has an `__init__`, which would bypass them.
    """
    if "__init__" in vars(cls):
        code = vars(cls)["__init__"].__code__
        raise TypeError(
            f"{cls.__name__} has an __init__ ({Path(code.co_filename).name}, line "
            f"{code.co_firstlineno}), which a game cannot have: write parameters as `size: int "
            "= 8` in the class, and what follows from them as properties"
        )
    for parameter in dataclasses.fields(cls):  # inherited ones: `size = 5` changes the default
        if parameter.name in vars(cls):
            cls.__annotations__.setdefault(parameter.name, parameter.type)
    dataclasses.dataclass(frozen=True)(cls)


def check_parameters(game: Any, title: str) -> None:
    """Refuses values of another type than the default's, or outside a `Literal`.

    Raises:
        TypeError: for another type.
        ValueError: for a value that is not one of the choices.
    """
    for parameter in dataclasses.fields(game):
        value = getattr(game, parameter.name)
        wanted = type(parameter.default)
        if wanted is float and type(value) is int:
            object.__setattr__(game, parameter.name, float(value))
        elif wanted in (bool, int, float, str) and type(value) is not wanted:
            raise TypeError(f"{title}: {parameter.name} must be {wanted.__name__}, not {value!r}")
    for name, choices in parameter_choices(type(game)).items():
        value = getattr(game, name)
        if value not in choices:
            raise ValueError(f"{title}: {name} must be {_either(choices)}, not {value!r}")


def parameter_choices(cls: type) -> dict[str, tuple[Any, ...]]:
    """The values of each parameter that is annotated with `Literal`, by name."""
    try:
        hints = get_type_hints(cls)
    except NameError:  # a quoted annotation that names nothing
        return {}
    names = [parameter.name for parameter in dataclasses.fields(cls)]
    return {name: get_args(hints[name]) for name in names if get_origin(hints[name]) is Literal}


def _either(choices: tuple[Any, ...]) -> str:
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last


def changed_parameters(game: Any) -> str:
    """The parameters that differ from their defaults, as in a game's name: `rows=7,cols=8`."""
    return ",".join(
        f"{parameter.name}={getattr(game, parameter.name)}"
        for parameter in dataclasses.fields(game)
        if getattr(game, parameter.name) != parameter.default
    )


def parse_parameters(cls: type, title: str, text: str) -> dict[str, Any]:
    """The parameters of a game that is named with `text` in parentheses.

    Raises:
        ValueError: if the game has no such parameter.
    """
    known = {parameter.name: parameter for parameter in dataclasses.fields(cls)}
    parameters: dict[str, Any] = {}
    for part in filter(None, map(str.strip, _split_parameters(text))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in known:
            names = ", ".join(f"{p.name}={p.default}" for p in known.values()) or "none"
            raise ValueError(f"{title} has no parameter {key!r}; its parameters: {names}")
        parameters[key] = _parse_value(value)
    return parameters


def _split_parameters(text: str) -> list[str]:
    """The parts between commas that are not in parentheses: a value may be a game's name."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _parse_value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (
        ValueError,
        SyntaxError,
        MemoryError,
        RecursionError,
    ):  # the latter two if nested deeply
        return text
