"""Watching a search think: a trace that is kept on the server, and looks at parts of it."""

from typing import Annotated, Literal

from pydantic import Field

from plainzero.server.api.schemas.base import Message, RequestId, Seed
from plainzero.server.api.schemas.games import Move, Position
from plainzero.server.api.schemas.searching import Analysis, MoveOpinion, SearchPlayer

MOST_VISIBLE = 5000

NodeId = Annotated[int, Field(ge=0, le=2**31 - 1)]
NodeIds = Annotated[list[NodeId], Field(max_length=MOST_VISIBLE)]

# ---- from the page ------------------------------------------------------------------------------


class Think(Message):
    """Search with a trace and keep it, to look at with the same id."""

    type: Literal["think"]
    id: RequestId
    position: Position
    player: SearchPlayer
    seed: Seed = 0


class Look(Message):
    """The tree as it was after so many simulations; answered by `TreeView`."""

    type: Literal["look"]
    id: RequestId
    simulation: Annotated[int, Field(ge=0)]  # 0: the root alone
    most_nodes: Annotated[int, Field(ge=1, le=MOST_VISIBLE)] = 400
    collapsed: NodeIds = []  # whose children are not wanted
    opened: NodeIds = []  # whose children are wanted, however few their visits
    root: NodeId = 0  # only the tree below this node


class LookAtStep(Message):
    """One simulation in its four phases; answered by `StepView`."""

    type: Literal["look-at-step"]
    id: RequestId
    simulation: Annotated[int, Field(ge=1)]


class LookAtNode(Message):
    """A node after so many simulations; answered by `NodeView`."""

    type: Literal["look-at-node"]
    id: RequestId
    simulation: Annotated[int, Field(ge=0)]
    node: NodeId


# ---- from the server ----------------------------------------------------------------------------


class Thought(Message):
    """The search is done and kept."""

    type: Literal["thought"] = "thought"
    id: str
    simulations: int
    nodes: int
    seconds: float
    best: Move
    analysis: Analysis  # at the end of the search


class TreeNode(Message):
    """A node of the tree; values are for the player who made the move that leads to it."""

    node: int
    parent: int  # -1 at the root that was asked for
    move: Move | None  # that leads here; None at the root of the whole tree
    depth: int  # below the root of the whole tree
    visits: int  # N
    q: float | None  # Q; None where never visited
    prior: float | None  # P
    is_over: bool
    exact: float | None  # proven by then
    hidden: int  # nodes below that are not sent


class TreeView(Message):
    """The visible part of the tree; parents come before their children."""

    type: Literal["tree"] = "tree"
    id: str
    simulation: int
    nodes: list[TreeNode]
    total_nodes: int  # at that time


class Choice(Message):
    """One selection on the way down: the moves as they stood then, and the one taken."""

    node: int
    to_play: int  # -1: chance
    parent_visits: int
    moves: list[MoveOpinion]  # q with first-play urgency filled in; score is q + u
    action: int


class StepView(Message):
    """A simulation, from the root to its leaf and back; nodes has one more entry than moves."""

    type: Literal["step"] = "step"
    id: str
    simulation: int
    nodes: list[int]  # without the last where the tree was full and it was not kept
    moves: list[Move]
    choices: list[Choice]  # one for each move
    kind: Literal["expanded", "finished", "proven", "not kept"]
    position: Position  # of the leaf
    values: list[float]  # per player, what came back
    backed_up: list[float]  # for each move: the value added, for the player who made it


class NodeView(Message):
    """A node: the way to it, and its moves at that time."""

    type: Literal["node"] = "node"
    id: str
    simulation: int
    node: int
    position: Position
    visits: int
    values: list[float]  # per player; empty where it has none yet
    moves: list[MoveOpinion]
