"""Options as frozen dataclasses: checking their types, and parsing them from text.

Every stage has one such dataclass, in the module that uses it.
"""

import difflib
import functools
import sys
import typing
from typing import Any, Literal

import numpy as np

_LARGEST = sys.float_info.max


@functools.cache
def option_kinds(config: Any) -> dict[str, Any]:
    """The type of each option, by name."""
    return typing.get_type_hints(config)


def check_types(config: Any) -> None:
    """Refuses values of the wrong type.

    Raises:
        ValueError: says which option, what it is, and what it must be.
    """
    for option, kind in option_kinds(config.__class__).items():
        value = getattr(config, option)
        if typing.get_origin(kind) is Literal:
            if value not in typing.get_args(kind):
                allowed = ", ".join(typing.get_args(kind))
                raise ValueError(f"{option} is {value!r}; choose one of: {allowed}")
        elif kind is float:
            if isinstance(value, bool) or not isinstance(value, int | float | np.floating):
                raise ValueError(f"{option} is {value!r}; it must be a number")
            if not -_LARGEST <= value <= _LARGEST:  # an int that large is no float
                raise ValueError(f"{option} is {value!r}; it must be a finite number")
        elif type(value) is not kind and not (kind is int and isinstance(value, np.integer)):
            word = {int: "a whole number", bool: "true or false", str: "a text"}[kind]
            raise ValueError(f"{option} is {value!r}; it must be {word}")


def check_is_used(config: Any, option: str, condition: str, is_met: bool) -> None:
    """Refuses an option that was changed, but has an effect only under an unmet condition.

    Raises:
        ValueError: names the condition.
    """
    value = getattr(config, option)
    if not is_met and value != config.__dataclass_fields__[option].default:
        raise ValueError(f"{option} is {value}, but has an effect only with {condition}")


def parse_option(config: type, option: str, text: str) -> Any:
    """The value of an option given as text, as in `--set option=value`.

    Raises:
        ValueError: for an unknown option or a value of the wrong type.
    """
    kinds = option_kinds(config)
    if option not in kinds:
        close = difflib.get_close_matches(option, kinds, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise ValueError(f"unknown option {option!r}; {hint}Options: {', '.join(kinds)}")
    kind = kinds[option]
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{option} is {text!r}; it must be true or false")
        return text.lower() == "true"
    if isinstance(kind, type) and kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            word = "a whole number" if kind is int else "a number"
            raise ValueError(f"{option} is {text!r}; it must be {word}") from None
    return text
