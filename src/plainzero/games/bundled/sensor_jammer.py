"""Sensor against jammer: an attacker comes in from the edge of a radar screen; a sensor looks.

The screen has rings and sectors. Whether a look finds the attacker is a throw of a die. A deception
makes two contacts of one, a sector to either side of where it was. Nobody knows which of them is
real; chance decides when a look finds one.
"""

import dataclasses
import itertools
from typing import Any

import numpy as np

from plainzero.games.board_view import Caption
from plainzero.games.contract import CHANCE, Field, Game, Grid, Symmetry, field

ATTACKER, SENSOR = 0, 1
ADVANCE, LEFT, RIGHT, JAM, DECEIVE, QUIET, TRACK, SEARCH, POINT = range(9)
NAMES = ("advance", "left", "right", "jam", "deceive", "quiet", "track", "search")

DIE = 6  # a look of strength s succeeds on s faces
TRACKING, GLANCING = 6, 2  # strength of looks
MUFFLED = 2  # subtracted by a jam, and by quiet

SLEW = 2  # sectors that the beam can turn in one round
JAMMED_TURNS = 2  # of the sensor
FIRST_TURN = 2  # of the attacker: chance has turned the beam, and said where the attacker comes up

METERS = ("fixes", "energy", "jam", "quiet", "rounds")  # fields that the view shows as numbers
LIMITS = ((5, 12), (2, 12), (1, 9), (1, 9), (2, 60))  # of the parameters, in their order


class SensorJammer(Game):
    """The attacker wins in the centre; the sensor by its fixes, or when the rounds are over."""

    sectors: int = 8
    rings: int = 9
    fixes: int = 2  # that win
    energy: int = 4  # that the attacker begins with, and can hold
    rounds: int = 15

    num_actions = property(lambda self: POINT + self.sectors)
    observation_shape = property(lambda self: (10, self.rings, self.sectors))
    max_turns = property(lambda self: FIRST_TURN + 3 * self.rounds)
    max_chance_outcomes = property(lambda self: self.sectors + 1)  # numbers: 3 at most once begun
    set_up_knows_the_end = True

    def __post_init__(self) -> None:
        """Refuses what cannot be drawn: on 4 sectors two contacts have two middles."""
        super().__post_init__()
        for parameter, (least, most) in zip(dataclasses.fields(self), LIMITS, strict=True):
            name, value = parameter.name, getattr(self, parameter.name)
            if not least <= value <= most:
                raise ValueError(f"sensor-jammer: {name} must be {least} to {most}, not {value}")

    def fields(self) -> dict[str, Field]:
        """The attacker, what it does to the sensor, the sensor, and a look that chance decides.

        With a decoy out, `sector` is the one between the two contacts. `jam` counts the sensor's
        turns that are still spoilt. `look` is 0 but while chance is to say what it finds.
        """
        attacker = ("sector", "ring", "decoy", "energy", "jam", "quiet")
        sensor = ("beam", "fixes", "rounds", "look", "wide")
        return {name: field(np.int8) for name in (*attacker, *sensor)}

    def reset(self, state: Any) -> None:
        """The screen is empty, and chance begins."""
        state.ring = self.rings
        state.energy = self.energy
        state.rounds = self.rounds
        state.to_play = CHANCE

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """A sector: any for the beam and the attacker at first; then that of the real contact.

        The outcome past the last sector is that the look finds nothing.
        """
        if state.turn < FIRST_TURN:
            for sector in range(self.sectors):
                actions[sector] = sector
                probabilities[sector] = 1.0 / self.sectors
            return self.sectors
        contacts = 1 + state.decoy
        for which in range(contacts):
            actions[which] = self.contact(state, which)
            probabilities[which] = state.look / (DIE * contacts)
        actions[contacts] = self.sectors
        probabilities[contacts] = 1.0 - state.look / DIE
        return int(contacts + (state.look < DIE))

    def contact(self, state: Any, which: Any) -> Any:
        """The sector of contact 0 or 1; without a decoy both are the attacker."""
        offset = state.decoy * (2 * which - 1)
        return (state.sector + offset + self.sectors) % self.sectors

    def legal_actions(self, state: Any, actions: Any) -> int:
        """The actions that the attacker has energy for; for the sensor, where the beam can turn."""
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
        """The attacker moves, the sensor looks, chance says what it finds."""
        if state.to_play == ATTACKER:
            self.move_attacker(state, action)
        elif state.to_play == SENSOR:
            self.use_sensor(state, action)
        elif state.turn == 0:
            state.beam = action
        elif state.turn < FIRST_TURN:
            state.sector = action
            state.to_play = ATTACKER
        elif action == self.sectors:
            self.finish_round(state)
        else:
            self.find(state, action)

    def move_attacker(self, state: Any, action: Any) -> None:
        """Moves in, in and sideways, or hides in one of three ways."""
        state.quiet = action == QUIET
        if action == QUIET:
            state.energy = min(state.energy + 1, self.energy)
        elif action == JAM:
            state.energy -= 1
            state.jam = JAMMED_TURNS
        elif action == DECEIVE:
            state.energy -= 1
            state.decoy = 1
        else:
            state.ring -= 1
            aside = self.sectors + (action == RIGHT) - (action == LEFT)
            state.sector = (state.sector + aside) % self.sectors
        state.to_play = SENSOR
        if state.ring == 0:
            self.win(state, ATTACKER)

    def use_sensor(self, state: Any, action: Any) -> None:
        """Turns the beam if it must, and looks at one sector or at three."""
        if action >= POINT:
            state.beam = action - POINT
        state.wide = action == SEARCH
        strength = TRACKING if action == TRACK else GLANCING
        strength -= MUFFLED * (state.quiet + min(state.jam, 1))
        left = self.distance(state, self.contact(state, 0))
        right = self.distance(state, self.contact(state, 1))
        if strength <= 0 or min(left, right) > state.wide:
            self.finish_round(state)
        elif strength == DIE and state.decoy == 0:
            self.find(state, state.sector)
        else:
            state.look = strength
            state.to_play = CHANCE

    def find(self, state: Any, sector: Any) -> None:
        """The attacker is in that sector, and there only; a fix, if that was looked at."""
        state.sector = sector
        state.decoy = 0
        if self.distance(state, sector) <= state.wide:
            state.fixes += 1
        self.finish_round(state)

    def finish_round(self, state: Any) -> None:
        """The sensor has won with enough fixes, and when no round is left."""
        state.look = state.wide = state.quiet = 0
        state.jam = max(state.jam - 1, 0)
        state.rounds -= 1
        state.to_play = ATTACKER
        if state.fixes == self.fixes or state.rounds == 0:
            self.win(state, SENSOR)

    def observe(self, state: Any, planes: Any) -> None:
        """Contacts, the beam's sector, and the rest as planes of one number; far ring on top."""
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
                planes[6, row, col] = state.fixes / self.fixes
                planes[7, row, col] = state.rounds / self.rounds
                planes[8, row, col] = state.to_play == ATTACKER
                planes[9, row, col] = state.to_play == SENSOR

    def symmetries(self) -> list[Symmetry]:
        """The screen turned by any number of sectors, and seen in a mirror."""
        return [_turn(self.sectors, k, sign) for sign in (1, -1) for k in range(self.sectors)][1:]

    def action_name(self, action: int) -> str:
        """The manoeuvre or the look; sectors are counted from 1."""
        return NAMES[action] if action < POINT else f"point {action - POINT + 1}"

    def parse_action(self, text: str) -> int:
        """The action of that name, in upper or lower case."""
        return super().parse_action(" ".join(text.lower().split()))

    def outcome_name(self, outcome: int) -> str:
        """Where the attacker is, or the beam at first; or that nothing was found."""
        return f"sector {outcome + 1}" if outcome < self.sectors else "nothing"

    def view(self, state: Any) -> Grid:
        """The screen from the far ring to the centre, the beam below it, and a row of `METERS`."""
        cells = [["."] * self.sectors for _ in range(self.rings + 2)]
        actions = [[-1] * self.sectors for _ in range(self.rings + 3)]
        if state.turn >= FIRST_TURN:
            row, contacts = self.rings - state.ring, [self.contact(state, i) for i in range(2)]
            for contact in contacts:
                cells[row][contact] = "x"
                actions[row + 1][contact] = ADVANCE
            actions[row + 1][(contacts[0] - 1) % self.sectors] = LEFT
            actions[row + 1][(contacts[1] + 1) % self.sectors] = RIGHT
        actions[-2] = [POINT + sector for sector in range(self.sectors)]
        if state.turn > 0:
            cells[-1][state.beam] = "o"
            actions[-2][state.beam] = TRACK
        meters = [str(state[name]) for name in METERS]
        cells.append(meters + [" "] * (self.sectors - len(meters)))
        words = f"fixes of {self.fixes}/energy of {self.energy}/jammed/quiet/rounds left".split("/")
        captions = [Caption(self.rings + 2, col, text) for col, text in enumerate(words)]
        columns = [str(sector + 1) for sector in range(self.sectors)]
        rows = [*(str(ring) for ring in range(self.rings, -1, -1)), "beam", ""]
        marks = self._marks(state)
        return Grid(cells, actions, marks, columns=columns, rows=rows, captions=captions)

    def _marks(self, state: Any) -> list[tuple[int, int]]:
        """The reason for the win: the attacker in the centre, the fixes, or the end of rounds."""
        if state.is_over and state.ring == 0:
            return sorted({(self.rings, int(self.contact(state, which))) for which in range(2)})
        meter = "fixes" if state.fixes == self.fixes else "rounds"
        return [(self.rings + 2, METERS.index(meter))] if state.is_over else []

    def set_up(self, state: Any, cells: list[list[str]]) -> None:
        """One contact, or two in a ring with a sector between them; one beam; numbers in range."""
        rows = [row for row in range(self.rings + 1) if "x" in cells[row]]
        if len(rows) != 1 or not self._place(state, self.rings - rows[0], cells[rows[0]]):
            raise ValueError("there must be one contact (x), or two in a ring and a sector between")
        if cells[-2].count("o") != 1:
            raise ValueError("the row below the screen must hold the beam (o) once")
        state.beam = cells[-2].index("o")
        most = (self.fixes, self.energy, JAMMED_TURNS, 1, self.rounds)
        for name, text, largest in zip(METERS, cells[-1], most, strict=False):
            if not (text.isdecimal() and int(text) <= largest):
                raise ValueError(f"{name} must be 0 to {largest}, not {text!r}")
            state[name] = int(text)
        state.turn = FIRST_TURN + 2 * (self.rounds - state.rounds) + (state.to_play == SENSOR)
        if state.ring == 0:
            self.win(state, ATTACKER)
        elif state.fixes == self.fixes or state.rounds == 0:
            self.win(state, SENSOR)

    def _place(self, state: Any, ring: int, texts: list[str]) -> bool:
        """Places the attacker and its decoy at the drawn contacts, if possible."""
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
            f"fixes {state.fixes}/{self.fixes}, energy {state.energy}/{self.energy}, "
            f"jammed turns {state.jam}, rounds left {state.rounds}{', quiet' * state.quiet}"
        )
        mover = ("attacker", "sensor", "chance")[state.to_play]
        turn = "" if state.is_over else f"; {mover} to play"
        return "\n".join([*lines, f"   {' '.join(beam)}", meters + turn])


def _turn(sectors: int, by: int, sign: int) -> Symmetry:
    became = (sign * np.arange(sectors) + by) % sectors
    source = np.argsort(became)
    aside = (LEFT, RIGHT)[::sign]
    actions = [ADVANCE, *aside, *range(JAM, POINT), *(POINT + int(sector) for sector in became)]
    return Symmetry(lambda planes: planes[..., source], actions)
