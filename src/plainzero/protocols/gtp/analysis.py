"""`lz-analyze`: a running report of the search, for boards such as Sabaki and Lizzie."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from plainzero.opponents.search_agent import SearchAgent
from plainzero.opponents.timed_moves import limit_by_clock
from plainzero.protocols.gtp.session import GtpError, GtpSession
from plainzero.search.api import Searcher
from plainzero.search.result import SearchResult
from plainzero.search.runner import StopFlag

_LONGEST = 86_400.0  # seconds: a day, unless it is stopped
_WHOLE = 10_000  # win rates and priors are given in units of 1 / 10,000
_INTERVAL = 0.5


class AnalysisSettings(NamedTuple):
    """How often to report, and how many moves."""

    seconds: float = _INTERVAL
    most_moves: int = 1_000_000


def parse_settings(words: list[str]) -> AnalysisSettings:
    """The settings in the arguments of `lz-analyze` after its colour.

    A bare number is an interval in hundredths of a second.

    Raises:
        GtpError: for an unknown argument.
    """
    settings, rest = AnalysisSettings(), list(words)
    while rest:
        word = rest.pop(0)
        if word.isdecimal():
            rest, word = [word, *rest], "interval"
        if word not in ("interval", "maxmoves") or not (rest and rest[0].isdecimal()):
            raise GtpError(f"unknown argument {word}; use lz-analyze [black|white] [centiseconds]")
        number = int(rest.pop(0))
        if word == "interval":
            settings = settings._replace(seconds=number / 100)
        else:
            settings = settings._replace(most_moves=number)
    return settings


class Analysis:
    """A search of one position that reports as it runs.

    Args:
        session: its agent searches.
        state: the position.
        settings: how often to report, and how many moves.

    Raises:
        GtpError: when the agent does not search.
    """

    def __init__(self, session: GtpSession, state: Any, settings: AnalysisSettings) -> None:  # noqa: D107
        agent = session.agent
        if not isinstance(agent, SearchAgent):
            raise GtpError(f"{agent.name} does not search, so there is no analysis")
        self.session, self.state, self.settings = session, state, settings
        config = limit_by_clock(dataclasses.replace(agent.config, choice="visits"), _LONGEST)
        self.searcher = Searcher(agent.game, agent.evaluator, config)

    def run(self, is_stopped: Callable[[], bool], write: Callable[[str], None]) -> None:
        """Searches and writes a line per interval, until stopped or the position is solved."""
        stop, reported = StopFlag(), time.monotonic()

        def report(done: int, total: int) -> None:
            nonlocal reported
            if is_stopped():
                stop.set()
            elif time.monotonic() - reported >= self.settings.seconds:
                reported = time.monotonic()
                write(self.describe(self.searcher.peek()[0]))

        write(
            self.describe(
                self.searcher.search(self.state, self.session.seed, progress=report, stop=stop)
            )
        )

    def describe(self, result: SearchResult) -> str:
        """One line with all visited moves, best first."""
        name, first = self.session.name_move, result.best_action
        edges = [edge for edge in result.tree.edges() if edge.visits > 0]
        edges.sort(key=lambda edge: (edge.action != first, -edge.visits, -edge.q, edge.action))
        parts = []
        for order, edge in enumerate(edges[: self.settings.most_moves]):
            q = edge.q if edge.exact is None else edge.exact
            line = [edge.action, *_continue(result, edge.child)]
            parts.append(
                f"info move {name(edge.action)} visits {edge.visits} "
                f"winrate {round(_WHOLE * (q + 1) / 2)} prior {round(_WHOLE * edge.prior)} "
                f"order {order} pv {' '.join(map(name, line))}"
            )
        return " ".join(parts) + "\n" if parts else ""


def _continue(result: SearchResult, node: int | None) -> list[int]:
    """The most visited moves from a node onwards."""
    moves: list[int] = []
    while node is not None:
        edges = [edge for edge in result.tree.edges(node) if edge.visits > 0]
        if not edges:
            break
        best = max(edges, key=lambda edge: (edge.visits, edge.q, -edge.action))
        moves.append(best.action)
        node = best.child
    return moves
