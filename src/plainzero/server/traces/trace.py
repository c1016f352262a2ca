"""A finished, traced search, kept to be looked at simulation by simulation."""

import functools

from plainzero.search.result import SearchResult
from plainzero.server.api.schemas.games import Position
from plainzero.server.api.schemas.traces import Look, NodeView, StepView, Thought, TreeView
from plainzero.server.searching.analysis import analyse
from plainzero.server.searching.selection_scores import make_move, plain_options
from plainzero.server.traces.recording import count_nodes, record
from plainzero.server.traces.simulations import Subject, view_node, view_step
from plainzero.server.traces.visible_tree import view_tree

_COUNTS_KEPT = 3  # a slider asks for the same number of simulations several times in a row


class Trace:
    """What a search did, in arrays of its own: the tree that it grew may go.

    Everything is counted again from the simulations: visits and values as they were after any
    number of them, and the scores by which each of them chose its way. Simulations are numbered
    from 1; after 0 of them there is the root alone, or what it kept from an earlier search.

    Args:
        result: of a search with `trace=True`; its tree must not be gone.
        position: where the search began; positions of nodes are told from there.
        step: of the weights that were used, if any.

    Raises:
        ValueError: when the search kept no trace.
    """

    def __init__(  # noqa: D107
        self, result: SearchResult, position: Position, step: int | None = None
    ) -> None:
        recording = record(result)
        options = plain_options(result.options[0])
        self._subject = Subject(result.game, options, position, recording)
        self._count = functools.lru_cache(_COUNTS_KEPT)(functools.partial(count_nodes, recording))
        self._analysis = analyse(result, step)
        self._best = make_move(result.game, result.best_action, result.to_play)

    @property
    def simulations(self) -> int:
        """The simulations that were run."""
        return self._subject.recording.simulations

    @property
    def num_nodes(self) -> int:
        """The nodes at the end."""
        return self._subject.recording.num_nodes

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take, those included that looks leave behind."""
        players = self._subject.game.num_players
        a_count = self.num_nodes * (4 + 8 * players) + (self.num_nodes + 1) * 4
        return self._subject.recording.nbytes + _COUNTS_KEPT * int(a_count)

    def thought(self, id: str, seconds: float) -> Thought:
        """Says that the search is done, and what it found."""
        return Thought(
            id=id,
            simulations=self.simulations,
            nodes=self.num_nodes,
            seconds=seconds,
            best=self._best,
            analysis=self._analysis,
        )

    def tree(self, look: Look) -> TreeView:
        """The visible part of the tree after `look.simulation` simulations.

        Values are for the player who made the move; for the one who decided last where chance made
        it; for the player to move at the root. What was proven by then is exact.

        Raises:
            ValueError: for a simulation or a node that there is not.
        """
        self._check_simulation(look.simulation, 0)
        self._check_nodes(look.root, *look.collapsed, *look.opened)
        count = self._count(look.simulation)
        return view_tree(self._subject.game, self._subject.recording, count, look)

    def step(self, id: str, simulation: int) -> StepView:
        """The simulation of that number in its four phases; see `view_step`.

        The scores are by the engine's own formulas; under Gumbel's selection, which has none of
        that kind, `u` is null. A position that was not kept is told up to the last move in the
        tree; chance may have moved on from there.

        Raises:
            ValueError: for a simulation that there is not.
        """
        self._check_simulation(simulation, 1)
        return view_step(self._subject, id, simulation)

    def node(self, id: str, simulation: int, node: int) -> NodeView:
        """A node after so many simulations.

        Raises:
            ValueError: for a simulation or a node that there is not.
        """
        self._check_simulation(simulation, 0)
        self._check_nodes(node)
        return view_node(self._subject, id, simulation, node)

    def _check_simulation(self, simulation: int, first: int) -> None:
        if not first <= simulation <= self.simulations:
            raise ValueError(
                f"simulation {simulation} was asked for; ask for one from {first} to "
                f"{self.simulations}"
            )

    def _check_nodes(self, *nodes: int) -> None:
        for node in nodes:
            if not 0 <= node < self.num_nodes:
                raise ValueError(
                    f"node {node} was asked for; ask for one from 0 to {self.num_nodes - 1}"
                )
