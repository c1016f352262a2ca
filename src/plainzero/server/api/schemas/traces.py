"""Traced searches: the server caches a trace, and clients ask for parts of it."""

from typing import Annotated, Literal

from pydantic import Field

from plainzero.server.api.schemas.base import Message, RequestId, Seed
from plainzero.server.api.schemas.games import Move, Position
from plainzero.server.api.schemas.searching import Analysis, MoveStatistics, SearchAgent

MAX_VISIBLE = 5000

NodeId = Annotated[int, Field(ge=0, le=2**31 - 1)]
NodeIds = Annotated[list[NodeId], Field(max_length=MAX_VISIBLE)]

# ---- from the client ----------------------------------------------------------------------------


class TraceRequest(Message):
    """Searches a position and caches its trace under the same `id`."""

    type: Literal["trace"]
    id: RequestId
    position: Position
    agent: SearchAgent
    seed: Seed = 0


class TreeRequest(Message):
    """Asks for the tree after `simulation` simulations; answered by `TreeView`."""

    type: Literal["get-tree"]
    id: RequestId
    simulation: Annotated[int, Field(ge=0)]  # 0: the root alone
    max_nodes: Annotated[int, Field(ge=1, le=MAX_VISIBLE)] = 400
    collapsed: NodeIds = []  # nodes whose children are hidden
    opened: NodeIds = []  # nodes whose children are shown, however few their visits
    root: NodeId = 0  # of the subtree to show


class SimulationRequest(Message):
    """Asks for one simulation in its four phases; answered by `SimulationView`."""

    type: Literal["get-simulation"]
    id: RequestId
    simulation: Annotated[int, Field(ge=1)]


class NodeRequest(Message):
    """Asks for a node after `simulation` simulations; answered by `NodeView`."""

    type: Literal["get-node"]
    id: RequestId
    simulation: Annotated[int, Field(ge=0)]
    node: NodeId


# ---- from the server ----------------------------------------------------------------------------


class Traced(Message):
    """The search is finished and its trace is cached."""

    type: Literal["traced"] = "traced"
    id: str
    simulations: int
    nodes: int
    seconds: float
    best: Move
    analysis: Analysis  # at the end of the search


class TreeNode(Message):
    """A node of the tree; values are for the player whose move leads to it."""

    node: int
    parent: int  # -1 at the root of the view
    move: Move | None  # that leads here; null at the root of the whole tree
    depth: int  # below the root of the whole tree
    visits: int  # N
    q: float | None  # Q; null if never visited
    prior: float | None  # P
    is_over: bool
    exact: float | None  # value proven by then
    hidden: int  # nodes below it that are not sent


class TreeView(Message):
    """The visible part of the tree; parents come before their children."""

    type: Literal["tree"] = "tree"
    id: str
    simulation: int
    nodes: list[TreeNode]
    total_nodes: int  # after that many simulations


class Choice(Message):
    """One selection on the path: the statistics of all moves at that time, and the move taken."""

    node: int
    to_play: int  # -1: chance
    parent_visits: int
    moves: list[MoveStatistics]  # q includes first-play urgency; the score is q + u
    action: int


class SimulationView(Message):
    """A simulation from the root to its leaf and back; `nodes` has one more entry than `moves`."""

    type: Literal["simulation"] = "simulation"
    id: str
    simulation: int
    nodes: list[int]  # without the leaf if the tree was full
    moves: list[Move]
    choices: list[Choice]  # one for each move
    kind: Literal["expanded", "finished", "proven", "not kept"]
    position: Position  # of the leaf
    values: list[float]  # backed up, per player
    backed_up: list[float]  # for each move: the value added for its player


class NodeView(Message):
    """A node: its position, and its moves at that time."""

    type: Literal["node"] = "node"
    id: str
    simulation: int
    node: int
    position: Position
    visits: int
    values: list[float]  # per player; empty before its first visit
    moves: list[MoveStatistics]
