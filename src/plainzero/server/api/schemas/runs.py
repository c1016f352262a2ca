"""Training runs: their state and progress, their games, and one position over time."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from plainzero.server.api.schemas.base import GameName, Message, RequestId, RunName
from plainzero.server.api.schemas.games import Move, Position
from plainzero.server.api.schemas.searching import MoveOutcome

RunState = Literal["starting", "running", "stopping", "stopped", "finished", "failed"]


class Generation(Message):
    """One line of metrics.jsonl; docs/training.md explains the numbers."""

    generation: int
    step: int
    numbers: dict[str, float]


class RunInfo(Message):
    """A run in the catalogue."""

    run: str  # its name in the catalogue
    game: str
    state: RunState
    message: str  # why it failed, or a warning; empty if neither
    generation: int
    generations: int  # limit; 0: none
    seconds: float  # of training so far
    minutes: float  # limit; 0: none
    games: int
    positions: int
    steps: list[int]  # with saved weights
    can_control: bool  # whether this server can stop and resume it
    latest: Generation | None


class RunDetails(Message):
    """A run with its curves and its settings."""

    info: RunInfo
    generations: list[Generation]
    settings: dict[str, dict[str, bool | int | float | str]]  # sections of config.toml


class StartRun(Message):
    """Starts a run in the server's runs folder."""

    game: GameName
    run: RunName | None = None  # default: the game's name
    minutes: Annotated[float, Field(gt=0, le=100_000)] = 20.0
    settings: Annotated[
        list[Annotated[str, StringConstraints(max_length=100)]], Field(max_length=100)
    ] = []  # section.option=value, as after --set


class ResumeRun(Message):
    """Resumes a run, until it has trained for `minutes` in total if given."""

    minutes: Annotated[float, Field(gt=0, le=100_000)] | None = None


class GameSummary(Message):
    """A self-play game, as a list shows it."""

    index: int  # within its generation
    length: int
    opening: int  # number of random moves at its start
    returns: list[float]
    ending: str
    first_step: int
    last_step: int
    simulations: int


class GameList(Message):
    """One page of the games of a generation."""

    generations: list[int]  # with games
    generation: int
    total: int
    first: int
    games: list[GameSummary]


class PolicyShare(Message):
    """A move's share of the policy target."""

    action: int
    name: str
    share: float


class RecordedMove(Message):
    """A move of a self-play game, with the result of its search."""

    move: Move
    policy: list[PolicyShare]  # empty if the move was not searched
    values: list[float]  # of the root, per player; empty if the move was not searched
    is_target: bool
    is_opening: bool


class RecordedGame(Message):
    """A whole self-play game."""

    summary: GameSummary
    game: str
    moves: list[RecordedMove]


class PositionOverTimeRequest(Message):
    """A position to evaluate with many checkpoints of a run."""

    position: Position
    max_steps: Annotated[int, Field(ge=1, le=200)] = 40


class CheckpointEvaluation(Message):
    """One checkpoint's evaluation of the position, without a search."""

    step: int
    generation: int
    value: float  # for the player to move
    policy: list[float]  # in the order of `moves`


class PositionOverTime(Message):
    """One position, evaluated by checkpoints from oldest to newest."""

    moves: list[Move]  # the legal ones
    checkpoints: list[CheckpointEvaluation]
    outcomes: list[MoveOutcome]  # under perfect play, if solved quickly; otherwise empty


# ---- the WebSocket ------------------------------------------------------------------------------


class FollowRuns(Message):
    """Follows all runs: `RunUpdate` now and after every change, until `Cancel`."""

    type: Literal["follow-runs"]
    id: RequestId


class RunUpdate(Message):
    """The current state of a run, and the generations not yet sent on this connection."""

    type: Literal["run"] = "run"
    id: str
    info: RunInfo
    generations: list[Generation]


class RunRemoved(Message):
    """A run that was reported before and no longer exists."""

    type: Literal["run-removed"] = "run-removed"
    id: str
    run: str
