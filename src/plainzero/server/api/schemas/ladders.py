"""Ladders: the rated agents of a game."""

from typing import Annotated, Literal

from pydantic import Field

from plainzero.server.api.schemas.base import GameName, Message, RunName
from plainzero.server.api.schemas.searching import Agent


class LadderRung(Message):
    """A rated agent."""

    label: str
    elo: float  # above the anchor
    error: float  # half the 95 % interval of that difference
    games: int
    score: float  # share of the points
    agent: Agent | None  # null if this server cannot play it
    family: str  # what agents share that differ only in simulations; empty for others
    simulations: int  # 0: without search


class LadderPair(Message):
    """The games between two agents, the stronger one first."""

    first: int  # index of its rung
    second: int
    wins: int
    draws: int
    losses: int
    expected: float  # score by the ratings


class Placement(Message):
    """The games that place a run on the ladder."""

    run: str
    state: Literal["running", "finished", "failed"]
    message: str  # why it failed; otherwise empty


class Ladder(Message):
    """A game's ladder, strongest agent first."""

    anchor: str  # label
    rungs: list[LadderRung]
    pairs: list[LadderPair]
    games: int
    seconds: float  # of play
    draw_rate: float  # of equal agents
    misfit: float  # how much more the results of pairs vary than by chance; 1 or more
    made: str  # when and where
    command: str  # that made it; empty if not bundled
    is_bundled: bool
    placement: Placement | None  # the latest one since the server started
    can_place: bool  # whether clients may place runs


class PlaceRun(Message):
    """Places a run on its game's ladder."""

    game: GameName
    run: RunName
    simulations: Annotated[int, Field(ge=0, le=10_000)] = 100
    minutes: Annotated[float, Field(gt=0, le=60)] = 2.0
