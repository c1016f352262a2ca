"""A race with a die: roll, then choose which of your runners goes that far."""

from typing import Any

import numpy as np

from plainzero import CHANCE, Game, field


class DiceRace(Game):
    """The first to bring all runners home wins; a runner that is hit starts again."""

    length: int = 14
    runners: int = 3
    die: int = 6

    num_actions = property(lambda self: self.runners + 1)  # a runner, or none can go
    observation_shape = property(lambda self: (2 * (self.length + 1) + self.die,))
    max_turns = 600
    max_chance_outcomes = property(lambda self: self.die)

    def fields(self) -> dict[str, Any]:
        """How far each runner is, what the die shows, and whose turn it is."""
        return {
            "places": field(np.int8, (2, self.runners)),
            "shown": field(np.int8),
            "mover": field(np.int8),
        }

    def reset(self, state: Any) -> None:
        """The die is rolled first."""
        state.to_play = CHANCE

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """Each face is equally likely."""
        for face in range(self.die):
            actions[face] = face
            probabilities[face] = 1.0 / self.die
        return self.die

    def legal_actions(self, state: Any, actions: Any) -> int:
        """Runners that are not home and do not run past it; otherwise the turn passes."""
        count = 0
        for runner in range(self.runners):
            place = int(state.places[state.to_play, runner])
            if place < self.length and place + state.shown <= self.length:
                actions[count] = runner
                count += 1
        if count == 0:
            actions[0] = self.runners
            count = 1
        return count

    def play(self, state: Any, action: Any) -> None:
        """The die shows a face, or a runner goes and hits what stands there."""
        if state.to_play == CHANCE:
            state.shown = action + 1
            state.to_play = state.mover
            return
        mover, other = state.mover, 1 - state.mover
        if action < self.runners:
            place = state.places[mover, action] + state.shown
            state.places[mover, action] = place
            for runner in range(self.runners):
                if 0 < place < self.length and state.places[other, runner] == place:
                    state.places[other, runner] = 0
        if self.all_home(state, mover):
            self.win(state, mover)
        elif state.turn + 1 >= self.max_turns - 1:
            self.draw(state)
        state.mover = other
        state.to_play = CHANCE

    def all_home(self, state: Any, player: Any) -> bool:
        """Whether every runner of the player is home."""
        for runner in range(self.runners):
            if state.places[player, runner] < self.length:
                return False
        return True

    def observe(self, state: Any, planes: Any) -> None:
        """How many own runners stand on each place, how many others, and the die."""
        mover = state.mover if state.to_play == CHANCE else state.to_play
        for runner in range(self.runners):
            planes[state.places[mover, runner]] += 1.0
            planes[self.length + 1 + state.places[1 - mover, runner]] += 1.0
        if state.shown > 0:
            planes[2 * (self.length + 1) + state.shown - 1] = 1.0

    def action_name(self, action: int) -> str:
        """A runner by its letter, or pass."""
        return "pass" if action == self.runners else chr(ord("a") + action)

    def outcome_name(self, outcome: int) -> str:
        """What the die shows."""
        return str(outcome + 1)
