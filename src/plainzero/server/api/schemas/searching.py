"""Agents, the results of searches, and the socket's messages about searches."""

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


class SearchAgent(Message):
    """Chooses moves by a search. `options` are fields of SearchConfig.

    With `book`, a game's opening book corrects the move that is played; null: for the bundled
    network, if the game has a book. It has no part in the search, nor in traces.
    """

    kind: Literal["search"] = "search"
    evaluator: Literal["rollout", "uniform", "threats", "network", "bundled"] = "rollout"
    run: RunName | None = None  # that provides the network
    step: Step | None = None  # None: the newest weights
    simulations: Annotated[int, Field(ge=0)] = 800  # 0: limited by seconds alone
    seconds: Annotated[float, Field(ge=0)] = 0.0  # 0: limited by simulations alone
    options: Options = {}
    book: bool | None = None


class NetworkAgent(Message):
    """Plays the move with the highest prior, without a search."""

    kind: Literal["network"] = "network"
    run: RunName
    step: Step | None = None


class AlphaBetaAgent(Message):
    """Chooses moves by alpha-beta search."""

    kind: Literal["alphabeta"] = "alphabeta"
    depth: Annotated[int, Field(ge=1)] = 6
    seconds: Annotated[float, Field(ge=0)] = 0.0


class PerfectAgent(Message):
    """Plays perfectly, in games with a solver."""

    kind: Literal["perfect"] = "perfect"


class RandomAgent(Message):
    """Plays a random legal move."""

    kind: Literal["random"] = "random"


Agent = Annotated[
    SearchAgent | NetworkAgent | AlphaBetaAgent | PerfectAgent | RandomAgent,
    Field(discriminator="kind"),
]


class MoveStatistics(Message):
    """Statistics of a legal move, from the point of view of the player to move."""

    action: int
    name: str
    prior: float | None  # P; this and the following are null if the agent has none
    visits: int | None  # N
    share: float | None  # of all visits
    q: float | None  # Q; null if never visited
    u: float | None  # U, which selection adds to Q
    exact: float | None  # proven value


class Analysis(Message):
    """An agent's analysis of a position."""

    to_play: int
    value: float | None  # for the player to move
    values: list[float]  # per player; empty if unknown
    simulations: int
    nodes: int
    is_proven: bool
    best: int | None  # action
    book: Move | None  # played instead, because the opening book knows that `best` is worse
    moves: list[MoveStatistics]  # every legal move
    variation: list[Move]  # principal variation
    step: int | None  # of the weights used


class SearchRequest(Message):
    """A position to search over HTTP."""

    position: Position
    agent: Agent
    seed: Seed = 0


class SearchAnswer(Message):
    """The chosen move, and the analysis behind it."""

    action: int
    name: str
    seconds: float
    analysis: Analysis


class OutcomesRequest(Message):
    """A position to solve."""

    position: Position
    seconds: Annotated[float, Field(gt=0, le=60)] = 10.0


class MoveOutcome(Message):
    """The result of a move under perfect play by both sides."""

    action: int
    name: str
    outcome: Literal[-1, 0, 1]  # for the player to move


class Outcomes(Message):
    """The result of every legal move under perfect play; empty if time ran out."""

    is_solved: bool
    moves: list[MoveOutcome]


# ---- the WebSocket, from the client -------------------------------------------------------------


class Search(Message):
    """Searches a position and chooses a move; `Progress` streams meanwhile."""

    type: Literal["search"]
    id: RequestId
    position: Position
    agent: Agent
    seed: Seed = 0


class Stop(Message):
    """Stops a search; its result so far is the answer."""

    type: Literal["stop"]
    id: RequestId


class Cancel(Message):
    """Discards a request and its trace; nothing more is sent about it."""

    type: Literal["cancel"]
    id: RequestId


# ---- the WebSocket, from the server -------------------------------------------------------------


class Queued(Message):
    """The search waits for `ahead` others."""

    type: Literal["queued"] = "queued"
    id: str
    ahead: int


class Progress(Message):
    """The analysis so far."""

    type: Literal["progress"] = "progress"
    id: str
    seconds: float
    analysis: Analysis


class Answer(Message):
    """The result of a search."""

    type: Literal["answer"] = "answer"
    id: str
    answer: SearchAnswer


class Failure(Message):
    """Why a request failed, in one sentence; `id` is empty if it could not be read."""

    type: Literal["failure"] = "failure"
    id: str
    message: str
