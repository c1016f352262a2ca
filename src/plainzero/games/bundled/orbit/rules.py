"""Satellite pursuit: an attacker must come near an asset, a defender must catch it or hold out.

All motion is relative to the asset, in Hill's frame that turns with its circular orbit: x is
radial, outwards, y along the track, forwards; see `motion.py`. Coordinates are whole
decimetres, and velocities are kept as v / n, in decimetres too.
"""

import math
from typing import Any

import numpy as np

from plainzero.games.bundled.orbit.drawing import COLS, ROWS, cell_of, draw_shapes
from plainzero.games.bundled.orbit.motion import (
    PHASES,
    coasting_matrix,
    ellipse_starts,
    move_freely,
)
from plainzero.games.contract import CHANCE, Field, Game, Grid, Symmetry, field

MANOEUVRES = ("prograde", "retrograde", "radial", "anti-radial", "hold")
PROGRADE, RETROGRADE, RADIAL, ANTI_RADIAL, HOLD = range(5)
ATTACKER, DEFENDER = 0, 1
ROLES = ("attacker", "defender")
METRE, KILOMETRE = 10, 10_000  # in the units of all lengths in a state
X, Y, U, W = range(4)  # radial, along-track; the velocities in these directions, divided by n
COASTS = 4  # equal parts of a step; distances are compared at the end of each
FORESIGHT = 8  # rounds ahead that the observation covers
TIME_IS_UP = "time is up: the asset is safe"
_RANGES = {
    "rounds": (1, 60),
    "attacker_fuel": (1, 40),
    "defender_fuel": (0, 40),
    "delta_v": (0.001, 1.0),
    "reach": (0.1, 1000.0),
    "capture": (0.0, 1000.0),
    "attacker_ellipse": (0.2, 1000.0),
    "defender_ellipse": (0.0, 1000.0),
    "period": (80.0, 1500.0),
}


class Orbit(Game):
    """Reach the asset, or defend it: five manoeuvres, little fuel, real orbits."""

    rounds: int = 16  # manoeuvres of each side before time is up
    attacker_fuel: int = 10  # manoeuvres other than hold
    defender_fuel: int = 6
    delta_v: float = 0.4  # m/s, of one manoeuvre
    reach: float = 7.0  # km from the asset, where the attacker wins
    capture: float = 4.0  # km between the two, where the defender wins
    attacker_ellipse: float = 30.0  # km, the smaller half-axis of the orbit on which it begins
    defender_ellipse: float = 10.0
    step: float = 60.0  # minutes that a round takes
    period: float = 1436.0  # minutes, of the asset's orbit; 1436 is geostationary

    num_actions = 5
    observation_shape = (30 + 2 * FORESIGHT,)
    max_turns = property(lambda self: 2 + 2 * self.rounds)
    max_chance_outcomes = PHASES

    mean_motion = property(lambda self: 2.0 * math.pi / (60.0 * self.period))  # n, in 1/s
    matrix = property(lambda self: coasting_matrix(2 * math.pi * self.step / self.period / COASTS))
    round_matrix = property(lambda self: coasting_matrix(2 * math.pi * self.step / self.period))
    impulse = property(lambda self: round(METRE * self.delta_v / self.mean_motion))
    reach_limit = property(lambda self: round(KILOMETRE * self.reach))
    capture_limit = property(lambda self: round(KILOMETRE * self.capture))
    scale = property(lambda self: KILOMETRE * self.attacker_ellipse)  # 1 in the observation
    starts = property(  # [player, phase, coordinate], flat
        lambda self: (
            ellipse_starts(KILOMETRE * self.attacker_ellipse)
            + ellipse_starts(KILOMETRE * self.defender_ellipse)
        )
    )

    def __post_init__(self) -> None:
        """Refuses numbers out of range, and games that are decided before they begin."""
        super().__post_init__()
        for name, (least, most) in _RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(f"orbit: {name} must be {least} to {most}, not {value}")
        if not 1.0 <= self.step <= self.period / 8:
            raise ValueError(
                f"orbit: step must be 1 minute to an eighth of the period, {self.period / 8:g} "
                f"minutes, not {self.step}"
            )
        if not self.capture < self.reach < self.attacker_ellipse:
            raise ValueError(
                f"orbit: capture {self.capture}, reach {self.reach} and attacker_ellipse "
                f"{self.attacker_ellipse} km must be in rising order: else a defender wins by "
                "waiting at the asset, or an attacker by waiting where it is"
            )
        if self.defender_ellipse + self.capture >= self.attacker_ellipse:
            raise ValueError(
                f"orbit: defender_ellipse {self.defender_ellipse} and capture {self.capture} km "
                f"must add up to less than attacker_ellipse, {self.attacker_ellipse} km: else the "
                "attacker may be caught where it begins"
            )

    def fields(self) -> dict[str, Field]:
        """x, y, x' / n and y' / n of both craft, and the manoeuvres that they have fuel for."""
        return {"craft": field(np.int32, (2, 4)), "fuel": field(np.int8, (2,))}

    def reset(self, state: Any) -> None:
        """Full tanks; chance places the attacker, then the defender."""
        state.fuel[ATTACKER], state.fuel[DEFENDER] = self.attacker_fuel, self.defender_fuel
        state.to_play = CHANCE

    def chance_outcomes(self, state: Any, actions: Any, probabilities: Any) -> int:
        """Any place on a craft's ellipse."""
        for phase in range(PHASES):
            actions[phase] = phase
            probabilities[phase] = 1.0 / PHASES
        return PHASES

    def legal_actions(self, state: Any, actions: Any) -> int:
        """All manoeuvres; without fuel only hold."""
        if state.fuel[state.to_play] == 0:
            actions[0] = HOLD
            return 1
        for manoeuvre in range(5):
            actions[manoeuvre] = manoeuvre
        return 5

    def play(self, state: Any, action: Any) -> None:
        """Places a craft, or fires its engine; both coast when the defender has chosen."""
        if state.to_play == CHANCE:
            self.place(state, state.turn, action)
            state.to_play = CHANCE if state.turn == 0 else ATTACKER
            return
        self.fire(state, state.to_play, action)
        if state.to_play == DEFENDER:
            for _ in range(COASTS):
                if not state.is_over:
                    self.coast(state, ATTACKER)
                    self.coast(state, DEFENDER)
                    self.judge(state)
            if state.turn + 1 == self.max_turns and not state.is_over:
                self.win(state, DEFENDER)
        self.end_turn(state)

    def place(self, state: Any, player: Any, phase: Any) -> None:
        """Puts a craft on its ellipse."""
        first = 4 * (PHASES * player + phase)
        for coordinate in range(4):
            state.craft[player, coordinate] = self.starts[first + coordinate]

    def fire(self, state: Any, player: Any, manoeuvre: Any) -> None:
        """Changes a craft's velocity at once."""
        if manoeuvre == HOLD:
            return
        state.fuel[player] -= 1
        if manoeuvre == PROGRADE:
            state.craft[player, W] += self.impulse
        elif manoeuvre == RETROGRADE:
            state.craft[player, W] -= self.impulse
        elif manoeuvre == RADIAL:
            state.craft[player, U] += self.impulse
        else:
            state.craft[player, U] -= self.impulse

    def coast(self, state: Any, player: Any) -> None:
        """Moves a craft along its free orbit for a quarter of a step."""
        x, y = int(state.craft[player, X]), int(state.craft[player, Y])
        u, w = int(state.craft[player, U]), int(state.craft[player, W])
        x, y, u, w = move_freely(self.matrix, x, y, u, w)
        state.craft[player, X], state.craft[player, Y] = x, y
        state.craft[player, U], state.craft[player, W] = u, w

    def judge(self, state: Any) -> None:
        """A defender near enough wins, even at the asset; else an attacker at the asset."""
        x, y = int(state.craft[ATTACKER, X]), int(state.craft[ATTACKER, Y])
        dx, dy = x - int(state.craft[DEFENDER, X]), y - int(state.craft[DEFENDER, Y])
        if dx * dx + dy * dy <= self.capture_limit * self.capture_limit:
            self.win(state, DEFENDER)
        elif x * x + y * y <= self.reach_limit * self.reach_limit:
            self.win(state, ATTACKER)

    def observe(self, state: Any, planes: Any) -> None:
        """Each coordinate as a pair, the parts above and below zero; then the rest."""
        mover = max(0, int(state.to_play))
        for coordinate in range(4):
            own = state.craft[mover, coordinate] / self.scale
            other = state.craft[1 - mover, coordinate] / self.scale
            write_pair(planes, 2 * coordinate, own)
            write_pair(planes, 8 + 2 * coordinate, other)
            write_pair(planes, 16 + 2 * coordinate, other - own)
        planes[24] = state.fuel[mover] / 10.0
        planes[25] = state.fuel[1 - mover] / 10.0
        planes[26] = (self.max_turns - state.turn) / self.max_turns
        planes[27] = mover
        self.look_ahead(state, planes)

    def look_ahead(self, state: Any, planes: Any) -> None:
        """How near they come to their targets in the next rounds if nobody fires."""
        m = self.round_matrix
        x, y = int(state.craft[ATTACKER, X]), int(state.craft[ATTACKER, Y])
        u, w = int(state.craft[ATTACKER, U]), int(state.craft[ATTACKER, W])
        # Relative to the attacker the defender moves by the same equations.
        dx, dy = int(state.craft[DEFENDER, X]) - x, int(state.craft[DEFENDER, Y]) - y
        du, dw = int(state.craft[DEFENDER, U]) - u, int(state.craft[DEFENDER, W]) - w
        left = (self.max_turns - state.turn + 1) // 2
        for ahead in range(min(left, FORESIGHT) + 1):
            planes[28 + 2 * ahead] = nearness(x, y, self.reach_limit)
            planes[29 + 2 * ahead] = nearness(dx, dy, self.capture_limit)
            x, y, u, w = move_freely(m, x, y, u, w)
            dx, dy, du, dw = move_freely(m, dx, dy, du, dw)

    def symmetries(self) -> list[Symmetry]:
        """Half a turn about the asset: every coordinate changes its sign."""
        unsigned = range(24, self.observation_shape[0])
        above_and_below = [*(place ^ 1 for place in range(24)), *unsigned]
        return [
            Symmetry(
                lambda planes: planes[..., above_and_below],
                [RETROGRADE, PROGRADE, ANTI_RADIAL, RADIAL, HOLD],
            )
        ]

    def action_name(self, action: int) -> str:
        """The manoeuvre."""
        return MANOEUVRES[action]

    def outcome_name(self, outcome: int) -> str:
        """The angle on the ellipse, 0° farthest from Earth."""
        return f"{360 * outcome // PHASES}°"

    def view(self, state: Any) -> Grid:
        """The orbital plane, forwards to the right and outwards up; the asset in the middle."""
        cells = [["."] * COLS for _ in range(ROWS)]
        cells[ROWS // 2][COLS // 2] = "+"
        for player in (DEFENDER, ATTACKER):
            if state.turn > player:
                row, col = self._cell(state, player)
                cells[row][col] = "xo"[player]
        is_decided = state.is_over and self._describe_end(state) != TIME_IS_UP
        marks = [self._cell(state, ATTACKER)] if is_decided else []
        actions = [[-1] * COLS for _ in range(ROWS)]
        return Grid(cells, actions, marks, layout="plane", shapes=draw_shapes(self, state))

    def _cell(self, state: Any, player: int) -> tuple[int, int]:
        """The cell of a craft; at the edge if it is farther away."""
        row, col = cell_of(self, state.craft[player, X], state.craft[player, Y])
        return round(row), round(col)

    def text(self, state: Any) -> str:
        """The drawing, then position, velocity and fuel of both, the distances and the clock."""
        lines = [" ".join(row) for row in self.view(state).cells]
        if state.to_play == CHANCE:
            return "\n".join([*lines, f"chance places the {ROLES[state.turn]}"])
        for player, name in enumerate(ROLES):
            x, y = state.craft[player, :2] / KILOMETRE
            u, w = state.craft[player, 2:] / METRE * self.mean_motion
            lines.append(
                f"{'xo'[player]} {name}: radial {x:+.1f} km {u:+.2f} m/s, along-track {y:+.1f} km "
                f"{w:+.2f} m/s, fuel {state.fuel[player]}"
            )
        attacker, defender = state.craft[:, :2] / KILOMETRE
        lines.append(
            f"attacker to asset {math.hypot(*attacker):.1f} km (wins at {self.reach:g}), defender "
            f"to attacker {math.hypot(*(attacker - defender)):.1f} km (wins at {self.capture:g})"
        )
        left = (self.max_turns - state.turn + 1) // 2
        going = f"{ROLES[state.to_play]} to play, rounds left {left}"
        return "\n".join([*lines, self._describe_end(state) if state.is_over else going])

    def _describe_end(self, state: Any) -> str:
        if state.returns[ATTACKER] > 0:
            return "the attacker has reached the asset"
        attacker, defender = state.craft[:, :2].astype(float)
        is_caught = math.hypot(*(attacker - defender)) <= self.capture_limit
        return "the attacker is caught" if is_caught else TIME_IS_UP


def write_pair(planes: Any, place: Any, number: Any) -> None:
    """How far a number is above zero, and how far below: two numbers that half a turn exchanges."""
    if number > 0:
        planes[place] = number
    else:
        planes[place + 1] = -number


def nearness(x: Any, y: Any, limit: Any) -> Any:
    """1 at no distance, ½ at the limit, and towards 0 beyond."""
    distance = math.sqrt(float(x) * float(x) + float(y) * float(y))
    return limit / (limit + distance)
