"""Satellite pursuit: real orbits in integers, the rules by hand, and the game's balance."""

import itertools
import math
import random

import numpy as np
import pytest

from plainzero import CHANCE, make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.match import MatchSettings, play_match
from plainzero.arena.openings import Opening
from plainzero.games import UnknownGame
from plainzero.games.bundled.orbit.motion import BITS, PHASES, nearest
from plainzero.games.bundled.orbit.rules import (
    ANTI_RADIAL,
    ATTACKER,
    COASTS,
    COLS,
    DEFENDER,
    HOLD,
    MANOEUVRES,
    METRE,
    PROGRADE,
    RADIAL,
    RETROGRADE,
    ROWS,
    Orbit,
)
from plainzero.games.position_setup import can_set_up, set_up_position

pytestmark = pytest.mark.slow

GAME = Orbit()
DAY = Orbit(period=1440.0)  # 24 steps a revolution
FAR = (0, 500_000, 0, 0)
STARTS = list(itertools.product(range(PHASES), repeat=2))
OPPOSITE = (RETROGRADE, PROGRADE, ANTI_RADIAL, RADIAL, HOLD)
LETTERS = "prua."  # prograde, retrograde, radial (up), anti-radial, hold


def started(game=GAME, phases=(0, 0)):
    state = game.new_state()
    for phase in phases:
        game.apply(state, phase)
    return state


def placed(attacker, defender=FAR, game=GAME):
    """A position with the craft there: x, y, x' / n, y' / n in metres; the attacker is to play."""
    state = started(game)
    state.craft[:] = np.multiply((attacker, defender), METRE)
    return state


def play_round(game, state, attacker=HOLD, defender=HOLD):
    game.apply(state, attacker)
    if not state.is_over:
        game.apply(state, defender)


def coast(game, craft, steps):
    """The position of a craft after `steps` steps with its engine off."""
    state = placed(FAR, craft, game)
    for _ in range(steps * COASTS):
        game.coast(state, DEFENDER)
    return metres(state, DEFENDER)


def metres(state, player):
    return state.craft[player] / METRE


def integrate(craft, angle, parts=400):
    """The equations of motion by Runge and Kutta, time in units of 1 / n."""

    def slope(z):
        x, _, u, w = z
        return np.array([u, w, 3 * x + 2 * w, -2 * u])

    z, h = np.array(craft, float), angle / parts
    for _ in range(parts):
        k1 = slope(z)
        k2 = slope(z + h / 2 * k1)
        k3 = slope(z + h / 2 * k2)
        k4 = slope(z + h * k3)
        z = z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return z


def play_plan(plan, phases, defender, opposite=False):
    """The result of a plan of the attacker's, holding after it, against one manoeuvre for ever."""
    state = started(phases=phases)
    for letter in itertools.chain(plan, itertools.repeat(".")):
        manoeuvre = LETTERS.index(letter)
        play_round(
            GAME,
            state,
            OPPOSITE[manoeuvre] if opposite else manoeuvre,
            defender if state.fuel[DEFENDER] else HOLD,
        )
        if state.is_over:
            return state


# ---- motion -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_a_step_is_what_the_equations_of_motion_say(seed):
    craft = np.random.default_rng(seed).integers(-100_000, 100_000, 4)
    exact = integrate(craft, 2 * math.pi * GAME.step / GAME.period)
    assert np.abs(coast(GAME, craft, 1) - exact).max() < 0.5  # metres


def test_a_whole_game_is_off_by_less_than_half_a_percent_of_the_smaller_radius():
    for seed in range(4):
        craft = np.random.default_rng(seed).integers(-40_000, 40_000, 4)
        exact = integrate(craft, 16 * 2 * math.pi * GAME.step / GAME.period)
        assert np.abs(coast(GAME, craft, 16) - exact)[:2].max() < 5 * GAME.capture  # metres


def test_a_craft_at_rest_on_the_track_stays_there():
    assert coast(GAME, (0, 36_000, 0, 0), 60).tolist() == [0, 36_000, 0, 0]


def test_the_closed_orbit_is_twice_as_long_as_high():
    track = np.array([coast(DAY, (20_000, 0, 0, -40_000), steps) for steps in range(25)])
    assert np.allclose(track[24], track[0], atol=20)
    assert np.allclose(track[6], [0, -40_000, -20_000, 0], atol=5)
    assert np.allclose((track[:, 0] / 20_000) ** 2 + (track[:, 1] / 40_000) ** 2, 1, atol=0.003)


@pytest.mark.parametrize(("x", "w"), [(10_000, 0), (10_000, -15_000), (0, 5000), (-8000, 16_000)])
def test_the_drift_of_a_revolution_is_known(x, w):
    after = coast(DAY, (x, 7000, 0, w), 24)
    assert after[1] - 7000 == pytest.approx(-6 * math.pi * (2 * x + w), abs=20)
    assert after[0] == pytest.approx(x, abs=5)


def test_a_craft_on_a_neighbouring_circle_drifts_at_a_constant_rate():
    track = np.array([coast(DAY, (10_000, 0, 0, -15_000), steps) for steps in range(13)])
    assert np.allclose(track[:, 0], 10_000, atol=5)
    assert np.allclose(np.diff(track[:, 1]), -15_000 * math.pi / 12, atol=5)


def test_firing_forwards_leaves_a_craft_behind():
    state = placed((0, 0, 0, 0), game=DAY)
    DAY.fire(state, ATTACKER, PROGRADE)
    burnt = metres(state, ATTACKER)
    assert burnt[3] == pytest.approx(0.4 * 86_400 / (2 * math.pi), abs=0.1)
    assert coast(DAY, burnt, 1)[1] > 1000
    assert coast(DAY, burnt, 24)[1] == pytest.approx(-6 * math.pi * burnt[3], abs=20)


@pytest.mark.parametrize(
    ("manoeuvre", "change"),
    [(PROGRADE, (0, 1)), (RETROGRADE, (0, -1)), (RADIAL, (1, 0)), (ANTI_RADIAL, (-1, 0))],
)
def test_a_manoeuvre_changes_the_velocity_by_delta_v(manoeuvre, change):
    state = started()
    before = state.craft.copy()
    GAME.apply(state, manoeuvre)
    metres_a_second = (state.craft - before)[ATTACKER, 2:] / METRE * GAME.mean_motion
    assert metres_a_second == pytest.approx(0.4 * np.array(change), abs=1e-4)
    assert np.array_equal(state.craft[:, :2], before[:, :2])


def test_half_a_turn_about_the_asset_gives_the_very_same_game():
    chance = random.Random(5)
    for attacker, defender in STARTS[::5]:
        state = started(phases=(attacker, defender))
        turned = started(phases=((attacker + 4) % 8, (defender + 4) % 8))
        while not state.is_over:
            assert np.array_equal(state.craft, -turned.craft)
            action = chance.choice(GAME.legal(state))
            GAME.apply(state, action)
            GAME.apply(turned, OPPOSITE[action])
        assert state.returns.tolist() == turned.returns.tolist()


def test_rounding_is_to_the_nearest_and_the_same_on_both_sides_of_zero():
    for number in (0, 1, (1 << BITS) // 2 - 1, (1 << BITS) // 2, (1 << BITS) // 2 + 1, 123_456_789):
        assert abs(nearest(number) - number / 2**BITS) <= 0.5
        assert nearest(-number) == -nearest(number)


def test_the_farthest_flight_fits_the_numbers():
    game = make_game("orbit(rounds=60,attacker_fuel=40,delta_v=1,period=1500,step=187.5)")
    state = started(game, phases=(0, 4))
    while not state.is_over:
        play_round(game, state, PROGRADE if state.fuel[ATTACKER] else HOLD)
    assert (
        10**8 < np.abs(state.craft[ATTACKER].astype(int)).max() < 10**9
    )  # squares stay in 63 bits


# ---- magnitudes: what made every game of an earlier version a draw ------------------------------


def test_a_manoeuvre_moves_a_craft_by_as_much_as_the_radii_within_a_few_steps():
    """Positions in km and velocities in m/s once met without a factor: nothing ever moved."""
    for manoeuvre in (PROGRADE, RETROGRADE, RADIAL, ANTI_RADIAL):
        state = placed((0, 0, 0, 0))
        GAME.fire(state, ATTACKER, manoeuvre)
        moved = [math.hypot(*coast(GAME, metres(state, ATTACKER), steps)[:2]) for steps in (1, 4)]
        assert 1000 < moved[0] < 1000 * GAME.capture
        assert 1000 * GAME.capture < moved[1] < 2000 * GAME.reach


def test_the_fuel_suffices_to_reach_the_asset_and_to_meet_the_attacker_in_time():
    moved = GAME.delta_v * 60 * GAME.step  # metres a step, for each manoeuvre
    for fuel, way in ((10, 60_000 - 7000), (6, 60_000 - 20_000 - 4000)):
        assert moved * fuel / 2 * GAME.rounds > way


# ---- rules --------------------------------------------------------------------------------------


def test_chance_places_both_on_ellipses_where_they_would_stay():
    state = GAME.new_state()
    assert state.to_play == CHANCE
    assert GAME.chances(state) == [(phase, 1 / 8) for phase in range(8)]
    GAME.apply(state, 2)
    assert state.to_play == CHANCE
    GAME.apply(state, 4)
    assert state.to_play == ATTACKER
    assert metres(state, ATTACKER).tolist() == [0, -60_000, -30_000, 0]
    assert metres(state, DEFENDER).tolist() == [-10_000, 0, 0, 20_000]
    assert [GAME.outcome_name(phase) for phase in (0, 2, 7)] == ["0°", "90°", "315°"]


def test_nothing_moves_until_the_defender_has_chosen():
    state = started()
    before = state.craft[:, :2].copy()
    GAME.apply(state, HOLD)
    assert np.array_equal(state.craft[:, :2], before)
    assert state.to_play == DEFENDER
    GAME.apply(state, HOLD)
    assert (state.craft[:, :2] != before).any(axis=1).all()
    assert state.to_play == ATTACKER


def test_without_fuel_only_holding_is_legal():
    state = started()
    assert GAME.legal(state) == [PROGRADE, RETROGRADE, RADIAL, ANTI_RADIAL, HOLD]
    play_round(GAME, state, RADIAL)
    assert state.fuel.tolist() == [9, 6]
    state.fuel[:] = 0, 1
    assert GAME.legal(state) == [HOLD]
    GAME.apply(state, HOLD)
    assert len(GAME.legal(state)) == 5
    GAME.apply(state, PROGRADE)
    assert state.fuel.tolist() == [0, 0]


def test_an_attacker_near_the_asset_wins():
    state = placed((0, 6900, 0, 0))
    play_round(GAME, state)
    assert state.returns.tolist() == [1, -1]
    state = placed((0, 7100, 0, 0))
    play_round(GAME, state)
    assert not state.is_over


def test_a_defender_near_the_attacker_wins_even_at_the_asset():
    for place in (40_000, 6900):
        state = placed((0, place, 0, 0), (0, place + 3900, 0, 0))
        play_round(GAME, state)
        assert state.returns.tolist() == [-1, 1]
    state = placed((0, 40_000, 0, 0), (0, 44_100, 0, 0))
    play_round(GAME, state)
    assert not state.is_over


def test_who_passes_by_within_a_step_is_seen():
    fast = 60_000  # 15.7 km a step along the track, past the asset
    state = placed((0, -8500, 0, fast))
    play_round(GAME, state)
    assert state.returns.tolist() == [1, -1]
    assert math.hypot(*coast(GAME, (0, -8500, 0, fast), 1)[:2]) > 1000 * GAME.reach


def test_the_defender_wins_when_time_is_up():
    state = started(phases=(0, 4))
    for _ in range(GAME.rounds - 1):
        play_round(GAME, state)
    assert not state.is_over
    play_round(GAME, state)
    assert state.turn == GAME.max_turns
    assert state.returns.tolist() == [-1, 1]


# ---- nobody wins by standing still, or by one manoeuvre for ever --------------------------------


@pytest.mark.parametrize("phases", STARTS)
def test_an_attacker_that_waits_loses_from_every_start(phases):
    assert play_plan("", phases, HOLD).returns[DEFENDER] == 1


# For each place of the attacker, plans one of which beats a defender that never fires.
AGAINST_HOLD = (("..ap", ".ap"), ("pa.uap",), ("pu.au",), ("uuru.", "uruuua."))


@pytest.mark.parametrize("phases", STARTS)
def test_a_defender_that_waits_loses_from_every_start(phases):
    turned = phases[0] >= 4
    plans = AGAINST_HOLD[phases[0] % 4]
    assert any(play_plan(plan, phases, HOLD, turned).returns[ATTACKER] == 1 for plan in plans)


def test_a_defender_that_waits_at_the_asset_loses_too():
    state = placed((0, 7500, 0, -6000), (0, 0, 0, 0))
    play_round(GAME, state)
    assert state.returns.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("manoeuvre", "plan"),
    [(PROGRADE, "a.pau"), (RETROGRADE, "..pa"), (RADIAL, "auaup"), (ANTI_RADIAL, ".rp.up")],
)
def test_a_defender_with_one_manoeuvre_for_ever_is_beaten(manoeuvre, plan):
    for place in range(PHASES):
        assert play_plan(plan, (0, place), manoeuvre).returns[ATTACKER] == 1


@pytest.mark.parametrize("letter", LETTERS)
def test_an_attacker_with_one_manoeuvre_for_ever_is_beaten(letter):
    lost = [play_plan(letter * 10, phases, HOLD).returns[ATTACKER] < 0 for phases in STARTS[::9]]
    assert sum(lost) > len(lost) / 2


def match(first, second, phases):
    openings = tuple(Opening(start, started(phases=start)) for start in phases)
    agents = (parse_agent(first, GAME), parse_agent(second, GAME))
    return play_match(GAME, agents, MatchSettings(openings=openings))


def test_a_search_beats_random_from_either_seat():
    seats = match("uct:400", "random", STARTS[::5]).tally_by_seat
    assert all(seat.wins >= 0.9 * seat.games for seat in seats)


def test_between_equal_searches_each_side_wins_and_nobody_draws():
    records = match("uct:1000", "uct:1000", STARTS[::3]).records
    attacker = [record.returns[ATTACKER] for record in records]
    assert set(attacker) == {-1.0, 1.0}
    assert 0.3 < attacker.count(1.0) / len(attacker) < 0.7


# ---- what people and networks see ---------------------------------------------------------------


def test_a_network_sees_the_mover_first_and_numbers_of_moderate_size():
    state = started(phases=(0, 6))
    seen = GAME.observation(state)
    GAME.apply(state, HOLD)
    from_defender = GAME.observation(state)
    assert np.array_equal(seen[:8], from_defender[8:16])
    assert np.array_equal(seen[8:16], from_defender[:8])
    assert np.array_equal(seen[16:24:2], from_defender[17:24:2])
    assert (seen[27], from_defender[27]) == (0, 1)
    assert (seen[24], from_defender[24]) == pytest.approx((1.0, 0.6))
    for phases in STARTS:
        assert 0 <= GAME.observation(started(phases=phases)).min()
        assert GAME.observation(started(phases=phases)).max() <= 4


def test_a_network_sees_how_near_both_come_if_nobody_fires():
    state = placed((0, -30_000, 0, 20_000), (0, -40_000, 0, 0))
    state.turn = GAME.max_turns - 4  # two rounds are left
    seen = GAME.observation(state)[28:].reshape(-1, 2)
    assert seen[0] == pytest.approx([7 / 37, 4 / 14])
    play_round(GAME, state)
    distance = math.hypot(*metres(state, ATTACKER)[:2]) / 1000
    between = math.hypot(*(metres(state, ATTACKER) - metres(state, DEFENDER))[:2]) / 1000
    assert seen[1] == pytest.approx([7 / (7 + distance), 4 / (4 + between)], abs=1e-4)
    assert GAME.observation(state)[28:30] == pytest.approx(seen[1], abs=1e-4)
    assert seen[2].min() > 0
    assert not seen[3:].any()


def test_the_drawing_has_forwards_to_the_right_and_outwards_up():
    cells = GAME.view(placed((18_000, -30_000, 0, 0), (0, 900_000, 0, 0))).cells
    assert cells[ROWS // 2][COLS // 2] == "+"
    assert cells[ROWS // 2 - 3][COLS // 2 - 5] == "x"
    assert cells[ROWS // 2][COLS - 1] == "o"  # at the edge: it is farther away
    assert sum(text != "." for text in itertools.chain(*cells)) == 3


def test_the_attacker_is_marked_where_it_was_caught_or_arrived():
    state = placed((0, 6900, 0, 0))
    assert GAME.view(state).marks == []
    play_round(GAME, state)
    assert GAME.view(state).marks == [(6, 12)]
    assert GAME.text(state).endswith("the attacker has reached the asset")
    state = placed((0, 40_000, 0, 0), (0, 42_000, 0, 0))
    play_round(GAME, state)
    assert len(GAME.view(state).marks) == 1
    assert GAME.text(state).endswith("the attacker is caught")
    late = play_plan("", (0, 4), HOLD)
    assert GAME.view(late).marks == []
    assert GAME.text(late).endswith("time is up: the asset is safe")


def test_the_text_tells_kilometres_metres_a_second_fuel_and_time():
    text = GAME.text(started(phases=(2, 0)))
    assert "x attacker: radial +0.0 km -2.19 m/s, along-track -60.0 km +0.00 m/s, fuel 10" in text
    assert "attacker to asset 60.0 km (wins at 7), defender to attacker 60.8 km" in text
    assert "attacker to play, rounds left 16" in text


def test_manoeuvres_have_the_names_people_use():
    assert [GAME.action_name(action) for action in range(5)] == list(MANOEUVRES)
    assert GAME.parse_action("anti-radial") == ANTI_RADIAL


def test_a_position_cannot_be_made_by_hand_since_a_drawing_has_no_velocities():
    assert not can_set_up(GAME)
    with pytest.raises(ValueError, match="orbit cannot be set up by hand"):
        set_up_position(GAME, GAME.view(started()).cells, 0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("rounds=0", "rounds must be 1 to 60, not 0"),
        ("attacker_fuel=41", "attacker_fuel must be 1 to 40, not 41"),
        ("defender_fuel=-1", "defender_fuel must be 0 to 40, not -1"),
        ("delta_v=0", "delta_v must be 0.001 to 1.0, not 0.0"),
        ("delta_v=400", "delta_v must be 0.001 to 1.0, not 400.0"),
        ("period=79", "period must be 80.0 to 1500.0, not 79.0"),
        ("step=200", "step must be 1 minute to an eighth of the period, 179.5 minutes, not 200.0"),
        ("capture=7", "must be in rising order: else a defender wins by waiting"),
        ("reach=31", "must be in rising order"),
        ("defender_ellipse=26", "must add up to less than attacker_ellipse"),
    ],
)
def test_parameters_that_make_no_game_are_refused(parameters, message):
    with pytest.raises(UnknownGame, match=message):
        make_game(f"orbit({parameters})")
