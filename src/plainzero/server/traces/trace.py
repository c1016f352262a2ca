"""A finished, traced search that can be viewed simulation by simulation."""

import functools

from plainzero.search.result import SearchResult
from plainzero.server.api.schemas.games import Position
from plainzero.server.api.schemas.traces import (
    NodeView,
    SimulationView,
    Traced,
    TreeRequest,
    TreeView,
)
from plainzero.server.searching.analysis import analyse
from plainzero.server.searching.selection_scores import make_move, plain_options
from plainzero.server.traces.recording import count_nodes, record
from plainzero.server.traces.simulations import Subject, view_node, view_simulation
from plainzero.server.traces.visible_tree import view_tree

_CACHED_COUNTS = 3  # several requests in a row are about the same number of simulations


class Trace:
    """A search copied to separate arrays, so that its tree can be freed.

    Visits and values after any number of simulations, and the scores of each selection, are
    recounted from the simulations. They are numbered from 1; after 0 simulations there is the root
    alone, or the tree reused from an earlier search.

    Args:
        result: of a search with `trace=True`, whose tree must still exist.
        position: of the root.
        step: of the weights used, if any.

    Raises:
        ValueError: if the search has no trace.
    """

    def __init__(  # noqa: D107
        self, result: SearchResult, position: Position, step: int | None = None
    ) -> None:
        recording = record(result)
        options = plain_options(result.options[0])
        self._subject = Subject(result.game, options, position, recording)
        self._count = functools.lru_cache(_CACHED_COUNTS)(functools.partial(count_nodes, recording))
        self._analysis = analyse(result, step)
        self._best = make_move(result.game, result.best_action, result.to_play)

    @property
    def simulations(self) -> int:
        """The number of simulations."""
        return self._subject.recording.simulations

    @property
    def num_nodes(self) -> int:
        """The number of nodes at the end."""
        return self._subject.recording.num_nodes

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays, including cached counts."""
        players = self._subject.game.num_players
        count_bytes = self.num_nodes * (4 + 8 * players) + (self.num_nodes + 1) * 4
        return self._subject.recording.nbytes + _CACHED_COUNTS * int(count_bytes)

    def summary(self, id: str, seconds: float) -> Traced:
        """The result of the search."""
        return Traced(
            id=id,
            simulations=self.simulations,
            nodes=self.num_nodes,
            seconds=seconds,
            best=self._best,
            analysis=self._analysis,
        )

    def tree(self, request: TreeRequest) -> TreeView:
        """The visible part of the tree after `request.simulation` simulations.

        Values are for the player whose move leads to a node; for the last player who moved before a
        chance node; and at the root for the player to move. Values proven by then are exact.

        Raises:
            ValueError: if a simulation or node does not exist.
        """
        self._check_simulation(request.simulation, 0)
        self._check_nodes(request.root, *request.collapsed, *request.opened)
        count = self._count(request.simulation)
        return view_tree(self._subject.game, self._subject.recording, count, request)

    def simulation(self, id: str, simulation: int) -> SimulationView:
        """A simulation in its four phases; see `view_simulation`.

        Scores come from the search's own formulas; Gumbel selection has none, so `u` is null. The
        position of a leaf that is not in the tree ends with the last move in the tree; chance moves
        may have followed.

        Raises:
            ValueError: if it does not exist.
        """
        self._check_simulation(simulation, 1)
        return view_simulation(self._subject, id, simulation)

    def node(self, id: str, simulation: int, node: int) -> NodeView:
        """A node after that many simulations.

        Raises:
            ValueError: if the simulation or node does not exist.
        """
        self._check_simulation(simulation, 0)
        self._check_nodes(node)
        return view_node(self._subject, id, simulation, node)

    def _check_simulation(self, simulation: int, first: int) -> None:
        if not first <= simulation <= self.simulations:
            raise ValueError(
                f"there is no simulation {simulation}; they are {first} to {self.simulations}"
            )

    def _check_nodes(self, *nodes: int) -> None:
        for node in nodes:
            if not 0 <= node < self.num_nodes:
                raise ValueError(f"there is no node {node}; they are 0 to {self.num_nodes - 1}")
