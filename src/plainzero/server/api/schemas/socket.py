"""All that goes over the WebSocket, either way, told apart by `type`."""

from typing import Annotated

from pydantic import Field

from plainzero.server.api.schemas.runs import RunGone, RunUpdate, Watch
from plainzero.server.api.schemas.searching import (
    Answer,
    Ask,
    Cancel,
    Failure,
    Progress,
    Queued,
    Stop,
)
from plainzero.server.api.schemas.traces import (
    Look,
    LookAtNode,
    LookAtStep,
    NodeView,
    StepView,
    Think,
    Thought,
    TreeView,
)

FromPage = Annotated[
    Ask | Think | Look | LookAtStep | LookAtNode | Watch | Stop | Cancel,
    Field(discriminator="type"),
]

FromServer = Annotated[
    Queued
    | Progress
    | Answer
    | Thought
    | TreeView
    | StepView
    | NodeView
    | RunUpdate
    | RunGone
    | Failure,
    Field(discriminator="type"),
]
