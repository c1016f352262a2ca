"""All messages of the WebSocket, by direction; `type` tells them apart."""

from typing import Annotated

from pydantic import Field

from plainzero.server.api.schemas.runs import FollowRuns, RunRemoved, RunUpdate
from plainzero.server.api.schemas.searching import (
    Answer,
    Cancel,
    Failure,
    Progress,
    Queued,
    Search,
    Stop,
)
from plainzero.server.api.schemas.traces import (
    NodeRequest,
    NodeView,
    SimulationRequest,
    SimulationView,
    Traced,
    TraceRequest,
    TreeRequest,
    TreeView,
)

FromClient = Annotated[
    Search
    | TraceRequest
    | TreeRequest
    | SimulationRequest
    | NodeRequest
    | FollowRuns
    | Stop
    | Cancel,
    Field(discriminator="type"),
]

FromServer = Annotated[
    Queued
    | Progress
    | Answer
    | Traced
    | TreeView
    | SimulationView
    | NodeView
    | RunUpdate
    | RunRemoved
    | Failure,
    Field(discriminator="type"),
]
