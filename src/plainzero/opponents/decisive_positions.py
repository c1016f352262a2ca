"""Making a set of decisive positions: such that some moves give game value away and others do not.

Each position has a game of its own: random moves up to some ply, then moves that mostly give
nothing away, so that late positions look like those between good players.
"""

import random
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import Game
from plainzero.opponents.connect_four.kernels import ILLEGAL

Judge = Callable[[Any], NDArray[np.int8]]
"""The outcomes of all moves in a position, [A]."""

_ERROR_SHARE = 0.15  # of random moves among the good ones
_PATIENCE = 2000  # tries without a new position, then a ply has no more


class Position(NamedTuple):
    """One position, and how it came about."""

    actions: tuple[int, ...]
    outcomes: NDArray[np.int8]  # [A]


class PositionMaker:
    """Finds decisive positions, no two the same or mirror images.

    Args:
        game: two players, no chance.
        judge: gives the true outcomes.
        seed: of all random choices; each ply has its own, whatever is found at others.
    """

    def __init__(self, game: Game, judge: Judge, seed: int) -> None:  # noqa: D107
        self.game, self._judge = game, judge
        self._generators = [random.Random(f"{seed} {ply}") for ply in range(game.max_turns)]
        self._seen: set[bytes] = set()

    def find(self, ply: int) -> Position | None:
        """A new decisive position after `ply` plies; None when there seems to be no other."""
        for _ in range(_PATIENCE):
            actions = self._walk(ply)
            if actions is None:
                continue
            state = self._after(actions)
            if self._bytes_of(state) in self._seen:
                continue
            self._seen |= self._images_of(actions)
            outcomes = self._judge(state)
            if is_decisive(outcomes):
                return Position(actions, outcomes)
        return None

    def _walk(self, ply: int) -> tuple[int, ...] | None:
        """Moves to a position of that ply; None where the game ends before."""
        generator = self._generators[ply]
        # From here on judging takes no more than a moment.
        first_good = max(ply - generator.randint(0, ply // 2), 2 * self.game.max_turns // 7)
        state = self.game.new_state()
        actions: list[int] = []
        while len(actions) < ply and not state.is_over:
            choices = self.game.legal(state)
            if len(actions) >= first_good and generator.random() >= _ERROR_SHARE:
                choices = self._good_moves(state)
            actions.append(generator.choice(choices))
            self.game.apply(state, actions[-1])
        return None if state.is_over else tuple(actions)

    def _good_moves(self, state: Any) -> list[int]:
        """Moves of the best outcome; where possible such that the game goes on."""
        outcomes = self._judge(state)
        good: list[int] = np.flatnonzero(outcomes == outcomes.max()).tolist()
        if outcomes.max() < 1:
            return good
        return [action for action in good if not self._ends(state, action)] or good

    def _ends(self, state: Any, action: int) -> bool:
        after = self.game.copy(state)
        self.game.apply(after, action)
        return bool(after.is_over)

    def _after(self, actions: tuple[int, ...]) -> Any:
        state = self.game.new_state()
        for action in actions:
            self.game.apply(state, action)
        return state

    def _images_of(self, actions: tuple[int, ...]) -> set[bytes]:
        """Bytes that name the position and its images under the game's symmetries.

        Only those count that leave the beginning as it is: the others lead to no game.
        """
        images = [actions]
        first = self.game.observation(self.game.new_state())
        for symmetry in self.game.symmetries():
            if np.array_equal(symmetry.planes(first), first):
                images.append(tuple(int(symmetry.actions[action]) for action in actions))
        return {self._bytes_of(self._after(image)) for image in images}

    def _bytes_of(self, state: Any) -> bytes:
        names = (self.game.dtype.names or ())[:-1]
        return b"".join(np.asarray(state[name]).tobytes() for name in names)


def num_early_plies(game: Game) -> int:
    """A quarter of the game: there, solving one position may take minutes."""
    return int(game.max_turns) // 4


def parse_plies(text: str, game: Game) -> dict[int, int]:
    """How many positions of each ply, from text such as `5:17 6-9:24`: 17, then 24 of each.

    Raises:
        ValueError: says which word is wrong, and what it must be.
    """
    counts: dict[int, int] = {}
    for word in text.split():
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?:([0-9]{1,9})", word)
        if match is None:
            raise ValueError(f"{word!r} is not PLY:COUNT or PLY-PLY:COUNT, as in 5:17 or 6-9:24")
        first, last, count = int(match[1]), int(match[2] or match[1]), int(match[3])
        if not first <= last < game.max_turns or count == 0:
            raise ValueError(
                f"{word!r} must name plies from 0 to {game.max_turns - 1} in rising order, "
                "and 1 position or more"
            )
        for ply in range(first, last + 1):
            if ply in counts:
                raise ValueError(f"{word!r} names ply {ply} a second time; name each ply once")
            counts[ply] = count
    if not counts:
        raise ValueError("no plies are named; write PLY:COUNT, as in 5:17 or 6-9:24")
    return counts


def is_decisive(outcomes: NDArray[np.int8]) -> bool:
    """Whether legal moves lead to at least two different outcomes."""
    return len(np.unique(outcomes[outcomes != ILLEGAL])) >= 2


class PositionCollection:
    """Decisive positions by ply, filled evenly; those found stay if the work is interrupted.

    Args:
        maker: finds them.
        report: called after each with the number found so far.
    """

    def __init__(self, maker: PositionMaker, report: Callable[[int], None]) -> None:  # noqa: D107
        self._maker, self._report = maker, report
        self._found: list[list[Position]] = [[] for _ in range(maker.game.max_turns)]
        self._is_open = [True] * len(self._found)

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(self.by_ply)

    @property
    def by_ply(self) -> list[int]:
        """How many there are of each ply."""
        return [len(positions) for positions in self._found]

    def positions(self) -> list[Position]:
        """All of them, in the order of plies."""
        return [position for positions in self._found for position in positions]

    def collect(self, count: int, most_early: int) -> None:
        """Finds up to `count`: as many of each ply as there are, and `most_early` of early ones.

        The early plies come last, from the later to the earlier.
        """
        early = range(num_early_plies(self._maker.game))
        late = range(len(early), len(self._found))
        self._fill(late, count - most_early * len(early))
        for ply in reversed(early):
            most = min(self.total + most_early, count)
            self._fill(range(ply, ply + 1), most)
        self._fill(late, count)

    def collect_counts(self, counts: Mapping[int, int]) -> None:
        """Finds so many of each ply, or as many as there are; the later plies first."""
        for ply in sorted(counts, reverse=True):
            self._fill(range(ply, ply + 1), self.total + counts[ply])

    def _fill(self, plies: range, count: int) -> None:
        """Adds positions of these plies, evenly, until there are `count` in all."""
        while self.total < count and any(self._is_open[ply] for ply in plies):
            still_open = [ply for ply in plies if self._is_open[ply]]
            ply = min(still_open, key=lambda ply: len(self._found[ply]))
            position = self._maker.find(ply)
            if position is None:
                self._is_open[ply] = False
            else:
                self._found[ply].append(position)
                self._report(self.total)
