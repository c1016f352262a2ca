"""Who plays, what a search found out, and the WebSocket's messages about searches."""

from typing import Annotated, Literal

from pydantic import Field

from plainzero.server.api.schemas.base import (
    Message,
    OptionValue,
    RequestId,
    RunName,
    Seed,
    Step,
    Text,
)
from plainzero.server.api.schemas.games import Move, Position

Options = Annotated[dict[Text, OptionValue], Field(max_length=64)]


class SearchPlayer(Message):
    """Plays what a search chooses. `options` are those of SearchConfig, by name."""

    kind: Literal["search"] = "search"
    evaluator: Literal["rollout", "uniform", "threats", "network", "shipped"] = "rollout"
    run: RunName | None = None  # whose network
    step: Step | None = None  # None: the newest weights
    simulations: Annotated[int, Field(ge=0)] = 800  # 0: no limit but the seconds
    seconds: Annotated[float, Field(ge=0)] = 0.0  # 0: no limit but the simulations
    options: Options = {}


class NetworkPlayer(Message):
    """Plays the network's first choice, without a search."""

    kind: Literal["network"] = "network"
    run: RunName
    step: Step | None = None


class AlphaBetaPlayer(Message):
    """Plays what alpha-beta finds."""

    kind: Literal["alphabeta"] = "alphabeta"
    depth: Annotated[int, Field(ge=1)] = 6
    seconds: Annotated[float, Field(ge=0)] = 0.0


class PerfectPlayer(Message):
    """Never gives a win or a draw away, where perfect play is known."""

    kind: Literal["perfect"] = "perfect"


class RandomPlayer(Message):
    """Plays any legal move."""

    kind: Literal["random"] = "random"


Player = Annotated[
    SearchPlayer | NetworkPlayer | AlphaBetaPlayer | PerfectPlayer | RandomPlayer,
    Field(discriminator="kind"),
]


class MoveOpinion(Message):
    """What is known of a legal move, for the player who would make it."""

    action: int
    name: str
    prior: float | None  # P; None where the player knows none, as with the following
    visits: int | None  # N
    share: float | None  # of all visits
    q: float | None  # Q; None where never visited
    u: float | None  # what selection adds to Q
    exact: float | None  # a proven value


class Analysis(Message):
    """What a player thinks of a position."""

    to_play: int
    value: float | None  # for the player to move
    values: list[float]  # per player; empty where none are known
    simulations: int
    nodes: int
    is_proven: bool
    best: int | None  # action
    moves: list[MoveOpinion]  # every legal move
    variation: list[Move]  # what it expects to happen
    step: int | None  # of the weights that were used


class SearchRequest(Message):
    """A position to think about, once, over HTTP."""

    position: Position
    player: Player
    seed: Seed = 0


class SearchAnswer(Message):
    """The move chosen, and why."""

    action: int
    name: str
    seconds: float
    analysis: Analysis


class OutcomesRequest(Message):
    """A position to solve."""

    position: Position
    seconds: Annotated[float, Field(gt=0, le=60)] = 10.0


class MoveOutcome(Message):
    """What a move leads to with perfect play on both sides."""

    action: int
    name: str
    outcome: Literal[-1, 0, 1]  # for the mover


class Outcomes(Message):
    """The true outcome of every legal move; none where the time was not enough."""

    is_solved: bool
    moves: list[MoveOutcome]


# ---- the WebSocket, from the page ---------------------------------------------------------------


class Ask(Message):
    """Think about a position and choose a move; progress streams while it thinks."""

    type: Literal["ask"]
    id: RequestId
    position: Position
    player: Player
    seed: Seed = 0


class Stop(Message):
    """Enough: the result so far stands."""

    type: Literal["stop"]
    id: RequestId


class Cancel(Message):
    """Never mind: nothing more about this request, and what was kept for it is dropped."""

    type: Literal["cancel"]
    id: RequestId


# ---- the WebSocket, from the server -------------------------------------------------------------


class Queued(Message):
    """The request waits for its turn."""

    type: Literal["queued"] = "queued"
    id: str
    ahead: int


class Progress(Message):
    """What the search thinks so far."""

    type: Literal["progress"] = "progress"
    id: str
    seconds: float
    analysis: Analysis


class Answer(Message):
    """The move chosen."""

    type: Literal["answer"] = "answer"
    id: str
    answer: SearchAnswer


class Failure(Message):
    """A request that could not be carried out, in one sentence; id is empty if none was read."""

    type: Literal["failure"] = "failure"
    id: str
    message: str
