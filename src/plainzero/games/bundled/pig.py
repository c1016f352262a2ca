"""Pig: roll the die as often as you dare, or hold the turn's total; a one loses the turn.

Two players and chance. `mover` keeps whose turn it is while the die rolls.
"""

from typing import Any

import numpy as np

from plainzero.games.contract import CHANCE, PIECES, Field, Game, Grid, field

ROLL, HOLD = 0, 1
NAMES = ("roll", "hold")


class Pig(Game):
    """The first with `target` points wins; after `horizon` decisions it is a draw."""

    target: int = 100
    die: int = 6  # its faces
    horizon: int = 1000

    num_actions = 2
    observation_shape = (4,)
    max_turns = property(lambda self: 2 * self.horizon)
    max_chance_outcomes = property(lambda self: self.die)
    set_up_knows_the_end = True  # it refuses points that have won

    def __post_init__(self) -> None:
        """Refuses values that do not fit the fields, and dice that never lose or never win."""
        super().__post_init__()
        for name, least, most in (("target", 2, 10_000), ("die", 2, 100), ("horizon", 1, 30_000)):
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(f"pig: {name} must be {least} to {most:,}, not {value}")

    def fields(self) -> dict[str, Field]:
        """Each player's points, the turn's total, whose turn it is, and the decisions so far."""
        return {
            "scores": field(np.int16, (2,)),
            "total": field(np.int16),
            "mover": field(np.int8),
            "decisions": field(np.int16),
        }

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Roll or hold; a mover who has enough must hold."""
        count = 0
        if state.scores[state.to_play] + state.total < self.target:
            actions[count] = ROLL
            count += 1
        actions[count] = HOLD
        return count + 1

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """Every face is equally likely; outcome 0 is a one."""
        for face in range(self.die):
            actions[face] = face
            probabilities[face] = 1.0 / self.die
        return self.die

    def play(self, state: Any, action: Any) -> None:
        """The die shows a face, or the mover rolls it, or holds."""
        if state.to_play == CHANCE:
            state.to_play = state.mover
            if action == 0:
                self.pass_on(state)
            else:
                state.total += action + 1
            return
        state.decisions += 1
        if action == HOLD:
            state.scores[state.to_play] += state.total
            if state.scores[state.to_play] >= self.target:
                self.win(state, state.to_play)
            self.pass_on(state)
        else:
            state.to_play = CHANCE
        if state.decisions == self.horizon and not state.is_over:
            self.draw(state)

    def pass_on(self, state: Any) -> None:
        """The other player's turn begins."""
        state.total = 0
        state.mover = 1 - state.mover
        state.to_play = state.mover

    def observe(self, state: Any, planes: Any) -> None:
        """Points of mover and opponent, and the total, as shares of the target; share of time."""
        mover = state.mover if state.to_play == CHANCE else state.to_play
        planes[0] = state.scores[mover] / self.target
        planes[1] = state.scores[1 - mover] / self.target
        planes[2] = state.total / self.target
        planes[3] = state.decisions / self.horizon

    def action_name(self, action: int) -> str:
        """Roll or hold."""
        return NAMES[action]

    def outcome_name(self, outcome: int) -> str:
        """What the die shows."""
        return str(outcome + 1)

    def view(self, state: Any) -> Grid:
        """A row for each player: points, and for the mover the turn's total."""
        totals = [str(state.total) if player == state.mover else "." for player in range(2)]
        cells = [[PIECES[p], str(state.scores[p]), totals[p]] for p in range(2)]
        return Grid(cells, [[-1] * 3 for _ in range(2)], columns=("", "points", "this turn"))

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """Points below the target, and the turn's total of the player to move."""
        state.mover = state.to_play
        for player, (piece, points, total) in enumerate(cells):
            if piece != PIECES[player] or not points.isdecimal() or int(points) >= self.target:
                raise ValueError(
                    f"row {player + 1} must hold {PIECES[player]} and points below {self.target}, "
                    f"not {piece!r} and {points!r}"
                )
            state.scores[player] = int(points)
            if (player == state.to_play) != total.isdecimal():
                raise ValueError("the turn's total belongs beside the player to move")
            if player == state.to_play:
                if int(total) >= self.target + self.die:
                    raise ValueError(f"a turn cannot total {total} points")
                state.total = int(total)

    def text(self, state: Any) -> str:
        """Points, and the turn."""
        rows = [f"{PIECES[player]} {state.scores[player]}" for player in range(2)]
        rows[state.mover] += f", +{state.total} this turn"
        return "\n".join(rows)
