"""Generates decisive positions: some of their moves give away game value, others do not.

Each position comes from its own game: random moves up to some ply, then mostly moves that give
nothing away, so that late positions resemble those of good players.
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

_ERROR_SHARE = 0.15  # of random moves after the random opening
_PATIENCE = 2000  # tries without a new position before a ply counts as exhausted


class Position(NamedTuple):
    """A position by its moves, with the outcomes of the next one."""

    actions: tuple[int, ...]
    outcomes: NDArray[np.int8]  # [A]


class PositionMaker:
    """Finds decisive positions, no two of them equal or symmetric.

    Args:
        game: two players, no chance.
        judge: returns the true outcomes of all moves.
        seed: random seed; each ply has its own generator, independent of the others.
    """

    def __init__(self, game: Game, judge: Judge, seed: int) -> None:  # noqa: D107
        self.game, self._judge = game, judge
        self._generators = [random.Random(f"{seed} {ply}") for ply in range(game.max_turns)]
        self._seen: set[bytes] = set()

    def find(self, ply: int) -> Position | None:
        """A new decisive position after `ply` plies; None when no more are found."""
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
        """Moves to a position of that ply; None if the game ends earlier."""
        generator = self._generators[ply]
        # From here on, judging is fast.
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
        """Moves with the best outcome, preferably ones that do not end the game."""
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
        """Keys of the position and its images under the game's symmetries.

        Only symmetries of the initial position count, because other images are not reachable.
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
    """A quarter of the game, in which solving one position may take minutes."""
    return int(game.max_turns) // 4


def parse_plies(text: str, game: Game) -> dict[int, int]:
    """The number of positions per ply, from text such as `5:17 6-9:24`.

    Raises:
        ValueError: for a word of another form, or plies out of range.
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
        raise ValueError("no plies given; write PLY:COUNT, as in 5:17 or 6-9:24")
    return counts


def is_decisive(outcomes: NDArray[np.int8]) -> bool:
    """Whether legal moves lead to at least two different outcomes."""
    return len(np.unique(outcomes[outcomes != ILLEGAL])) >= 2


class PositionCollection:
    """Decisive positions, collected evenly over the plies; an interruption loses none.

    Args:
        maker: finds positions.
        report: called after each position with the number found so far.
    """

    def __init__(self, maker: PositionMaker, report: Callable[[int], None]) -> None:  # noqa: D107
        self._maker, self._report = maker, report
        self._found: list[list[Position]] = [[] for _ in range(maker.game.max_turns)]
        self._is_open = [True] * len(self._found)

    @property
    def total(self) -> int:
        """The number of positions."""
        return sum(self.by_ply)

    @property
    def by_ply(self) -> list[int]:
        """The number of positions per ply."""
        return [len(positions) for positions in self._found]

    def positions(self) -> list[Position]:
        """All positions, by ply."""
        return [position for positions in self._found for position in positions]

    def collect(self, count: int, most_early: int) -> None:
        """Finds up to `count` positions, at most `most_early` of each early ply.

        Late plies come first, then the early ones from the latest to the earliest.
        """
        early = range(num_early_plies(self._maker.game))
        late = range(len(early), len(self._found))
        self._fill(late, count - most_early * len(early))
        for ply in reversed(early):
            most = min(self.total + most_early, count)
            self._fill(range(ply, ply + 1), most)
        self._fill(late, count)

    def collect_counts(self, counts: Mapping[int, int]) -> None:
        """Finds the given number per ply, or all there are; later plies first."""
        for ply in sorted(counts, reverse=True):
            self._fill(range(ply, ply + 1), self.total + counts[ply])

    def _fill(self, plies: range, count: int) -> None:
        """Adds positions of these plies evenly until there are `count` in total."""
        while self.total < count and any(self._is_open[ply] for ply in plies):
            still_open = [ply for ply in plies if self._is_open[ply]]
            ply = min(still_open, key=lambda ply: len(self._found[ply]))
            position = self._maker.find(ply)
            if position is None:
                self._is_open[ply] = False
            else:
                self._found[ply].append(position)
                self._report(self.total)
