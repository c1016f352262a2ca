"""Selection formulas, root noise and temperature, applied to given numbers."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from plainzero.search.config import FirstPlayUrgency, VisitTerm
from plainzero.server.api.schemas.base import Message, Seed, Text

MAX_CHILDREN = 512
MAX_SELECTIONS = 10_000
MIN_BASE = 1e-3
Share = Annotated[float, Field(ge=0, le=1)]


def _check_base(base: float) -> float:
    """Refuses a base so small that log(visits / base) overflows."""
    if 0 < base < MIN_BASE:
        raise ValueError(f"it is {base}; use 0 for a constant c, or at least {MIN_BASE}")
    return base


GrowthBase = Annotated[float, Field(ge=0, le=1e9), AfterValidator(_check_base)]


class Child(Message):
    """A move to choose from."""

    name: Text
    prior: Share
    visits: Annotated[int, Field(ge=0, le=10_000_000)]
    q: Annotated[float, Field(ge=-1, le=1)]  # ignored without visits


class FormulaRequest(Message):
    """Children and options; names and defaults are those of SearchConfig."""

    children: Annotated[list[Child], Field(min_length=1, max_length=MAX_CHILDREN)]
    selection: Literal["uct", "puct", "puct-log"] = "puct"
    c_uct: Annotated[float, Field(ge=0, le=1000)] = 1.4142135623730951
    c_puct: Annotated[float, Field(ge=0, le=1000)] = 1.25
    c_puct_base: GrowthBase = 19652.0
    visit_term: VisitTerm = "one-plus-sum"
    visit_exponent: Annotated[float, Field(ge=0, le=4)] = 0.5
    fpu: FirstPlayUrgency = "auto"
    fpu_reduction: Annotated[float, Field(ge=0, le=10)] = 0.2
    parent_value: Annotated[float, Field(ge=-1, le=1)] = 0.0
    noise_weight: Share = 0.0
    noise_alpha: Annotated[float, Field(ge=0, le=1000)] = 0.0
    seed: Seed = 0  # of the noise
    temperature: Annotated[float, Field(ge=0, le=100)] = 1.0
    selections: Annotated[int, Field(ge=0, le=MAX_SELECTIONS)] = 0  # to simulate, each Q constant
    curve_visits: Annotated[int, Field(ge=1, le=1_000_000)] = 100  # where the curves end


class ScoredChild(Message):
    """A child with its scores; null means infinite."""

    noise: float  # η, 0 without noise
    prior: float  # with noise
    q: float | None  # with first-play urgency
    u: float | None
    score: float | None  # q + u
    policy: float  # visits^(1/τ), normalised


class Curve(Message):
    """A child's score as a function of its own visits; null means infinite."""

    visits: list[int]
    scores: list[float | None]


class FormulaAnswer(Message):
    """Scores, the selected child, curves, and the next selections."""

    children: list[ScoredChild]
    choice: int  # index of the selected child
    c: float  # after its growth with visits
    term: float  # visit_term^exponent, or the logarithm of the other formulas
    curves: list[Curve]
    order: list[int]  # indices of the children, as selected
    visits_after: list[int]
    parent_value_after: float
