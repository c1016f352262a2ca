"""Training runs: what they are, how they go, their games, and how opinions changed."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from plainzero.server.api.schemas.base import GameName, Message, RequestId, RunName
from plainzero.server.api.schemas.games import Move, Position
from plainzero.server.api.schemas.searching import MoveOutcome

RunState = Literal["starting", "running", "stopping", "stopped", "finished", "failed"]


class Generation(Message):
    """A line of metrics.jsonl; docs/training.md says what the numbers mean."""

    generation: int
    step: int
    numbers: dict[str, float]


class RunInfo(Message):
    """A run of the catalogue."""

    run: str  # its name here
    game: str
    state: RunState
    message: str  # why it failed, or a warning; else empty
    generation: int
    generations: int  # the limit, 0: none
    seconds: float  # it has been training
    minutes: float  # the limit, 0: none
    games: int
    positions: int
    steps: list[int]  # whose weights are there
    can_control: bool  # whether it can be stopped and resumed here
    latest: Generation | None


class RunDetails(Message):
    """A run with its curves and its settings."""

    info: RunInfo
    generations: list[Generation]
    settings: dict[str, dict[str, bool | int | float | str]]  # sections of config.toml


class StartRun(Message):
    """A run to begin in the server's folder of runs."""

    game: GameName
    run: RunName | None = None  # by default the game's name
    minutes: Annotated[float, Field(gt=0, le=100_000)] = 20.0
    settings: Annotated[
        list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=100)
    ] = []  # section.option=value, as after --set


class ResumeRun(Message):
    """Go on with a run, to a total of so many minutes where they are given."""

    minutes: Annotated[float, Field(gt=0, le=100_000)] | None = None


class GameSummary(Message):
    """A self-play game in a list."""

    index: int  # within its generation
    length: int
    opening: int  # how many of its moves were random
    returns: list[float]
    ending: str
    first_step: int
    last_step: int
    simulations: int


class GameList(Message):
    """The games of a generation, a page of them."""

    generations: list[int]  # that have games
    generation: int
    total: int
    first: int
    games: list[GameSummary]


class PolicyShare(Message):
    """A move's share in what the network was to learn."""

    action: int
    name: str
    share: float


class RecordedMove(Message):
    """A move of a self-play game, with what the search said."""

    move: Move
    policy: list[PolicyShare]  # empty where nothing was searched
    values: list[float]  # per player, the root's; empty where nothing was searched
    is_target: bool
    is_opening: bool


class RecordedGame(Message):
    """A whole self-play game."""

    summary: GameSummary
    game: str
    moves: list[RecordedMove]


class OpinionsRequest(Message):
    """A position to show to many checkpoints of a run."""

    position: Position
    most_steps: Annotated[int, Field(ge=1, le=200)] = 40


class Opinion(Message):
    """What the network of one step says without a search."""

    step: int
    generation: int
    value: float  # for the player to move
    policy: list[float]  # in the order of `moves`


class Opinions(Message):
    """One position across checkpoints."""

    moves: list[Move]  # the legal ones
    opinions: list[Opinion]
    outcomes: list[MoveOutcome]  # the truth, where it is known at once; else empty


# ---- the WebSocket ------------------------------------------------------------------------------


class Watch(Message):
    """Follow all runs: their state now and at every change; `Cancel` ends it."""

    type: Literal["watch"]
    id: RequestId


class RunUpdate(Message):
    """A run as it is now, with the generations that are new to this connection."""

    type: Literal["run"] = "run"
    id: str
    info: RunInfo
    generations: list[Generation]


class RunGone(Message):
    """A run that was told of and is not there any more."""

    type: Literal["run-gone"] = "run-gone"
    id: str
    run: str
