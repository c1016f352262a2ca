"""The base class of all messages, and field types that several of them use."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MAX_MOVES = 4096
MAX_CELLS = 64
MAX_TEXT = 200
RUN_LETTERS = r"\w().,=+-"
RUN_NAME = rf"[{RUN_LETTERS}]{{1,100}}"

GameName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
"""A game's title in the catalogue, with parameters: connect-four(rows=7,cols=8)."""

_RUN_PATTERN = f"^{RUN_NAME}$"
_ID_PATTERN = r"^[\w.:-]{1,64}$"
PATTERN_RULES = {
    _RUN_PATTERN: "use 1 to 100 letters, digits and ( ) . , = + - _",
    _ID_PATTERN: "use 1 to 64 letters, digits and . : - _",
}
"""What each field pattern requires, in words."""

RunName = Annotated[str, StringConstraints(pattern=_RUN_PATTERN)]
"""A run's name in the catalogue; never a path."""

RequestId = Annotated[str, StringConstraints(pattern=_ID_PATTERN)]
"""Chosen by the client; every answer to the request carries it."""

Action = Annotated[int, Field(ge=0, le=1_000_000)]
Seed = Annotated[int, Field(ge=0, le=2**53 - 1)]  # what JavaScript's numbers hold
Step = Annotated[int, Field(ge=0, le=2**53 - 1)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
OptionValue = bool | int | float | Text


class Message(BaseModel):
    """A message. Unknown fields, NaN and infinities are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Problem(Message):
    """Why a request was refused, in one sentence."""

    message: str
