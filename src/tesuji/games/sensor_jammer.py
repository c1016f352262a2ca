"""Sensor against jammer: an attacker comes in from the edge of a radar screen, a sensor tracks it.

The screen has rings and sectors. A deception makes two contacts of one, a sector to either side of
where it was. Which of them is real nobody knows, and chance says so when the sensor sees one:
that, and the sectors of the beam and the attacker at first, is all that is left to luck.
"""

import dataclasses
import itertools
from typing import Any

import numpy as np

from tesuji.games.contract import CHANCE, Field, Game, Grid, Symmetry, field

ATTACKER, SENSOR = 0, 1
ADVANCE, LEFT, RIGHT, JAM, DECEIVE, QUIET, TRACK, SEARCH, POINT = range(9)
NAMES = ("advance", "left", "right", "jam", "deceive", "quiet", "track", "search")

SLEW = 2  # sectors that the beam can turn at once
JAMMED_TURNS = 2  # of the sensor
FIRST_ENERGY = 1
FIRST_TURN = 2  # of the attacker: chance has turned the beam, and said where the attacker comes up

METERS = ("lock", "energy", "jam", "quiet", "rounds")  # fields that the view shows as numbers
LIMITS = ((5, 12), (2, 12), (2, 20), (1, 9), (2, 60))  # of the parameters, in their order


class SensorJammer(Game):
    """The attacker wins in the centre, the sensor by a full lock or when the rounds are over."""

    sectors: int = 6
    rings: int = 6
    lock: int = 6  # that wins
    energy: int = 3  # that the attacker can hold
    rounds: int = 16

    num_actions = property(lambda self: POINT + self.sectors)
    observation_shape = property(lambda self: (10, self.rings, self.sectors))
    max_turns = property(lambda self: FIRST_TURN + 3 * self.rounds)
    max_chance_outcomes = property(lambda self: self.sectors)

    def __post_init__(self) -> None:
        """Refuses what cannot be drawn or does not fit the fields.

        On 4 sectors two contacts would not tell on which side the attacker was.
        """
        super().__post_init__()
        for parameter, (least, most) in zip(dataclasses.fields(self), LIMITS, strict=True):
            name, value = parameter.name, getattr(self, parameter.name)
            if not least <= value <= most:
                raise ValueError(f"sensor-jammer: {name} must be {least} to {most}, not {value}")

    def fields(self) -> dict[str, Field]:
        """The attacker, what it does to the sensor, the sensor, and a look that chance decides.

        With a decoy out, `sector` is the one between the two contacts. `jam` counts the sensor's
        turns that are still spoilt. `look` is 0 but while chance is to say which contact is real.
        """
        attacker = ("sector", "ring", "decoy", "energy", "jam", "quiet")
        sensor = ("beam", "lock", "rounds", "look", "wide")
        return {name: field(np.int8) for name in (*attacker, *sensor)}

    def reset(self, state: Any) -> None:
        """The screen is empty, and chance begins."""
        state.ring = self.rings
        state.energy = FIRST_ENERGY
        state.rounds = self.rounds
        state.to_play = CHANCE

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """A sector: any for the beam and the attacker at first, then one of the two contacts'."""
        is_first = state.turn < FIRST_TURN
        count = self.sectors if is_first else 2
        for i in range(count):
            actions[i] = i if is_first else self.contact(state, i)
            probabilities[i] = 1.0 / count
        return count

    def contact(self, state: Any, which: Any) -> Any:
        """The sector of contact 0 or 1; without a decoy both are the attacker."""
        offset = state.decoy * (2 * which - 1)
        return (state.sector + offset + self.sectors) % self.sectors

    def legal_actions(self, state: Any, actions: Any) -> int:
        """What the attacker has the energy for; for the sensor, where the beam can turn."""
        count = 0
        if state.to_play == ATTACKER:
            for action in range(TRACK):
                needs_energy = action == JAM or action == DECEIVE
                is_twice = action == DECEIVE and state.decoy == 1
                if not (needs_energy and state.energy == 0) and not is_twice:
                    actions[count] = action
                    count += 1
            return count
        for action in range(TRACK, self.num_actions):
            if action < POINT or 0 < self.distance(state, action - POINT) <= SLEW:
                actions[count] = action
                count += 1
        return count

    def distance(self, state: Any, sector: Any) -> Any:
        """Sectors from the beam, the shorter way round."""
        apart = abs(sector - state.beam)
        return min(apart, self.sectors - apart)

    def play(self, state: Any, action: Any) -> None:
        """The attacker moves, then the sensor looks, then chance speaks if it must."""
        if state.to_play == ATTACKER:
            self.move_attacker(state, action)
            return
        if state.to_play == SENSOR:
            self.use_sensor(state, action)
            return
        if state.turn == 0:
            state.beam = action
            return
        state.sector = action
        if state.turn < FIRST_TURN:
            state.to_play = ATTACKER
        else:
            state.decoy = 0
            self.finish_round(state, self.distance(state, action) <= state.wide)

    def move_attacker(self, state: Any, action: Any) -> None:
        """One ring in, one sector aside, or one of the three ways to be hard to see."""
        state.quiet = action == QUIET
        if action == ADVANCE:
            state.ring -= 1
        elif action == LEFT:
            state.sector = (state.sector + self.sectors - 1) % self.sectors
        elif action == RIGHT:
            state.sector = (state.sector + 1) % self.sectors
        elif action == QUIET:
            state.energy = min(state.energy + 1, self.energy)
        else:
            state.energy -= 1
            if action == JAM:
                state.jam = JAMMED_TURNS
            else:
                state.decoy = 1
        state.to_play = SENSOR
        if state.ring == 0:
            self.win(state, ATTACKER)

    def use_sensor(self, state: Any, action: Any) -> None:
        """A look of strength 2 or 1, less 1 for a jam and 1 for quiet, at one sector or three."""
        if action >= POINT:
            state.beam = action - POINT
        strength = (2 if action == TRACK else 1) - state.quiet - (1 if state.jam > 0 else 0)
        state.look = max(strength, 0)
        state.wide = action == SEARCH
        sees = False
        for which in range(2):
            if self.distance(state, self.contact(state, which)) <= state.wide:
                sees = state.look > 0
        if sees and state.decoy == 1:
            state.to_play = CHANCE
        else:
            self.finish_round(state, sees)

    def finish_round(self, state: Any, sees: Any) -> None:
        """The lock grows by the look if the attacker was seen, else fades by one."""
        state.lock = min(state.lock + state.look, self.lock) if sees else max(state.lock - 1, 0)
        state.look = state.wide = state.quiet = 0
        state.jam = max(state.jam - 1, 0)
        state.rounds -= 1
        state.to_play = ATTACKER
        if state.lock == self.lock or state.rounds == 0:
            self.win(state, SENSOR)

    def observe(self, state: Any, planes: Any) -> None:
        """Contacts, the beam's sector, and the rest as planes of one number; the far ring on top.

        Whose turn it is says whose view it is: the players do not have the same things.
        """
        for which in range(2):
            if state.turn >= FIRST_TURN:
                planes[0, self.rings - state.ring, self.contact(state, which)] = 1.0
        for row in range(self.rings):
            if state.turn > 0:
                planes[1, row, state.beam] = 1.0
            for col in range(self.sectors):
                planes[2, row, col] = state.decoy
                planes[3, row, col] = state.energy / self.energy
                planes[4, row, col] = state.jam / JAMMED_TURNS
                planes[5, row, col] = state.quiet
                planes[6, row, col] = state.lock / self.lock
                planes[7, row, col] = state.rounds / self.rounds
                planes[8, row, col] = state.to_play == ATTACKER
                planes[9, row, col] = state.to_play == SENSOR

    def symmetries(self) -> list[Symmetry]:
        """The screen turned by any number of sectors, and seen in a mirror."""
        return [
            _turn(self.sectors, by, mirrored)
            for mirrored in (False, True)
            for by in range(self.sectors)
            if by or mirrored
        ]

    def action_name(self, action: int) -> str:
        """The manoeuvre or the look; sectors are counted from 1."""
        return NAMES[action] if action < POINT else f"point {action - POINT + 1}"

    def parse_action(self, text: str) -> int:
        """The action of that name, in capitals or not."""
        return super().parse_action(" ".join(text.lower().split()))

    def outcome_name(self, outcome: int) -> str:
        """Where the attacker is, or the beam at first."""
        return f"sector {outcome + 1}"

    def view(self, state: Any) -> Grid:
        """The screen from the far ring to the centre, the beam below it, and a row of `METERS`.

        A click beside or before a contact moves the attacker, one below the screen the beam.
        """
        cells = [["."] * self.sectors for _ in range(self.rings + 2)]
        actions = [[-1] * self.sectors for _ in range(self.rings + 3)]
        if state.turn >= FIRST_TURN:
            row, contacts = self.rings - state.ring, [self.contact(state, i) for i in range(2)]
            actions[row][(contacts[0] - 1) % self.sectors] = LEFT
            actions[row][(contacts[1] + 1) % self.sectors] = RIGHT
            for contact in contacts:
                cells[row][contact] = "x"
                if state.ring > 0:
                    actions[row + 1][contact] = ADVANCE
        actions[-2] = [POINT + sector for sector in range(self.sectors)]
        if state.turn > 0:
            cells[-1][state.beam] = "o"
            actions[-2][state.beam] = TRACK
        meters = [str(state[name]) for name in METERS]
        cells.append(meters + [" "] * (self.sectors - len(meters)))
        return Grid(cells, actions, marks=self._marks(state, cells))

    def _marks(self, state: Any, cells: list[list[str]]) -> list[tuple[int, int]]:
        """What has won: the attacker in the centre, or the full lock, or the rounds that are up."""
        if not state.is_over:
            return []
        if state.ring == 0:
            return [(self.rings, col) for col, text in enumerate(cells[self.rings]) if text == "x"]
        return [(self.rings + 2, 0 if state.lock == self.lock else 4)]

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """One contact, or two in a ring with a sector between them; one beam; numbers in range."""
        rows = [row for row in range(self.rings + 1) if "x" in cells[row]]
        if len(rows) != 1 or not self._place(state, self.rings - rows[0], cells[rows[0]]):
            raise ValueError(
                "contacts (x) cannot stand like this; there is one, or there are two in a ring "
                "with one sector between them"
            )
        if cells[-2].count("o") != 1:
            raise ValueError("the row below the screen must hold the beam (o) once")
        state.beam = cells[-2].index("o")
        most = (self.lock, self.energy, JAMMED_TURNS, 1, self.rounds)
        for name, text, largest in zip(METERS, cells[-1], most, strict=False):
            if not (text.isdecimal() and int(text) <= largest):
                raise ValueError(f"{name} must be 0 to {largest}, not {text!r}")
            state[name] = int(text)
        state.turn = FIRST_TURN + 2 * (self.rounds - state.rounds) + (state.to_play == SENSOR)
        if state.ring == 0:
            self.win(state, ATTACKER)
        elif state.lock == self.lock or state.rounds == 0:
            self.win(state, SENSOR)

    def _place(self, state: Any, ring: int, texts: list[str]) -> bool:
        """Puts the attacker and its decoy where the texts show contacts, if it can be."""
        state.ring = ring
        for state.sector, state.decoy in itertools.product(range(self.sectors), (0, 1)):
            contacts = {int(self.contact(state, which)) for which in range(2)}
            if contacts == {col for col, text in enumerate(texts) if text == "x"}:
                return True
        return False

    def text(self, state: Any) -> str:
        """The screen with its rings numbered, the beam below, and what the numbers mean."""
        *screen, beam, _ = self.view(state).cells
        lines = [f"{self.rings - row:>2} {' '.join(cells)}" for row, cells in enumerate(screen)]
        meters = (
            f"lock {state.lock}/{self.lock}, energy {state.energy}/{self.energy}, "
            f"jammed turns {state.jam}, rounds left {state.rounds}{', quiet' * state.quiet}"
        )
        mover = ("chance", "attacker", "sensor")[state.to_play + 1]
        meters += "" if state.is_over else f"; {mover} to play"
        return "\n".join([*lines, f"   {' '.join(beam)}", meters])


def _turn(sectors: int, by: int, mirrored: bool) -> Symmetry:
    columns = np.arange(sectors)
    became = ((-columns if mirrored else columns) + by) % sectors
    source = np.argsort(became)
    actions = [*range(POINT), *(POINT + int(sector) for sector in became)]
    if mirrored:
        actions[LEFT], actions[RIGHT] = RIGHT, LEFT
    return Symmetry(lambda planes: planes[..., source], actions)
