"""What all messages have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

MOST_MOVES = 4096
MOST_CELLS = 64
MOST_TEXT = 200
RUN_LETTERS = r"\w().,=+-"
RUN_NAME = rf"[{RUN_LETTERS}]{{1,100}}"

GameName = Annotated[str, StringConstraints(min_length=1, max_length=MOST_TEXT)]
"""A game's title in the catalogue, with parameters: connect-four(rows=7,cols=8)."""

RunName = Annotated[str, StringConstraints(pattern=f"^{RUN_NAME}$")]
"""A run's name in the catalogue; never a path."""

RequestId = Annotated[str, StringConstraints(pattern=r"^[\w.:-]{1,64}$")]
"""Chosen by the page; what answers a request carries it."""

Action = Annotated[int, Field(ge=0, le=1_000_000)]
Seed = Annotated[int, Field(ge=0, le=2**53 - 1)]  # what JavaScript's numbers hold
Step = Annotated[int, Field(ge=0, le=2**53 - 1)]
Text = Annotated[str, StringConstraints(max_length=MOST_TEXT)]
OptionValue = bool | int | float | Text


class Message(BaseModel):
    """A message; unknown fields are refused, and NaN is not a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Problem(Message):
    """Why a request was refused, in one sentence."""

    message: str
