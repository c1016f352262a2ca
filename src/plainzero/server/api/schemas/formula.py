"""The selection formulas, the root's noise and the temperature, to try out."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from plainzero.search.config import FirstPlayUrgency, VisitTerm
from plainzero.server.api.schemas.base import Message, Seed, Text

MOST_CHILDREN = 512
MOST_SELECTIONS = 10_000
LEAST_BASE = 1e-3
Share = Annotated[float, Field(ge=0, le=1)]


def _check_base(base: float) -> float:
    """Refuses a base so small that the logarithm of visits / base has no value."""
    if 0 < base < LEAST_BASE:
        raise ValueError(f"it is {base}; give 0, for a c that stays, or {LEAST_BASE} and more")
    return base


GrowthBase = Annotated[float, Field(ge=0, le=1e9), AfterValidator(_check_base)]


class Child(Message):
    """A move to choose among."""

    name: Text
    prior: Share
    visits: Annotated[int, Field(ge=0, le=10_000_000)]
    q: Annotated[float, Field(ge=-1, le=1)]  # counts where visits are above 0


class FormulaRequest(Message):
    """Children, and every knob; names and defaults are those of SearchConfig."""

    children: Annotated[list[Child], Field(min_length=1, max_length=MOST_CHILDREN)]
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
    selections: Annotated[int, Field(ge=0, le=MOST_SELECTIONS)] = 0  # to make, with each Q as it is
    curve_visits: Annotated[int, Field(ge=1, le=1_000_000)] = 100  # as far as curves go


class ScoredChild(Message):
    """A child with what the formulas make of it; None is infinite."""

    noise: float  # η, 0 without noise
    prior: float  # with noise
    q: float | None  # with first-play urgency
    u: float | None
    score: float | None  # q + u
    policy: float  # visits^(1/τ), normalised


class Curve(Message):
    """How a child's score would fall with its own visits, all else as it is; None is infinite."""

    visits: list[int]
    scores: list[float | None]


class FormulaAnswer(Message):
    """Scores, the choice, the curves, and what the next selections would be."""

    children: list[ScoredChild]
    choice: int  # index
    c: float  # as it has grown with the visits
    term: float  # visit_term^exponent, or the logarithm of the other formulas
    curves: list[Curve]
    order: list[int]  # the children selected one after the other
    visits_after: list[int]
    parent_value_after: float
