"""Sensor against jammer: each rule in a position drawn by hand, and degenerate strategies."""

import re

import numpy as np
import pytest

from plainzero.games import make_game
from plainzero.games.bundled.sensor_jammer import (
    ADVANCE,
    ATTACKER,
    LEFT,
    NAMES,
    POINT,
    RIGHT,
    SENSOR,
    TRACK,
    SensorJammer,
)
from plainzero.games.contract import CHANCE
from plainzero.games.position_setup import cell_texts, set_up_position

GAME = SensorJammer(sectors=6, rings=8, energy=3, rounds=16)
NOTHING = GAME.sectors  # chance's outcome
DEFAULT = SensorJammer()


def drawn(contacts, beam, to_play=ATTACKER, ring=4, **meters):
    """A position from a ring's row and the beam's, as `view` draws them, and the numbers."""
    numbers = {"fixes": 0, "energy": 1, "jam": 0, "quiet": 0, "rounds": 10} | meters
    rows = [contacts if GAME.rings - row == ring else "......" for row in range(GAME.rings + 1)]
    cells = [list(row) for row in (*rows, beam)]
    return set_up_position(GAME, [*cells, [*map(str, numbers.values()), " "]], to_play)


def after(state, *moves):
    """The position after the moves by name; a number is chance's outcome."""
    state = GAME.copy(state)
    for move in moves:
        GAME.apply(state, move if isinstance(move, int) else GAME.parse_action(move))
    return state


def names(state):
    return [GAME.action_name(action) for action in GAME.legal(state)]


def contacts(state):
    return "".join(GAME.view(state).cells[GAME.rings - state.ring])


class TestAttacker:
    """What it can do, and what that costs."""

    @pytest.mark.parametrize(
        ("move", "ring", "expected"),
        [
            ("advance", 3, "x....."),
            ("left", 3, ".....x"),
            ("right", 3, ".x...."),
            ("jam", 4, "x....."),
            ("quiet", 4, "x....."),
            ("deceive", 4, ".x...x"),
        ],
    )
    def test_it_flies_in_or_stays_in_its_ring(self, move, ring, expected):
        state = after(drawn("x.....", "..o..."), move)
        assert (state.ring, contacts(state), state.to_play) == (ring, expected, SENSOR)

    def test_without_energy_it_neither_jams_nor_deceives(self):
        assert names(drawn("x.....", "..o...")) == list(NAMES[:6])
        assert names(drawn("x.....", "..o...", energy=0)) == ["advance", "left", "right", "quiet"]

    @pytest.mark.parametrize(
        ("move", "before", "left"),
        [("jam", 2, 1), ("deceive", 2, 1), ("quiet", 2, 3), ("quiet", 3, 3), ("advance", 2, 2)],
    )
    def test_energy_is_spent_and_gained(self, move, before, left):
        assert after(drawn("x.....", "..o...", energy=before), move).energy == left

    def test_there_is_no_second_deception_while_there_are_two_contacts(self):
        assert "deceive" not in names(drawn("x.x...", "...o..", energy=3))
        assert "jam" in names(drawn("x.x...", "...o..", energy=3))

    def test_two_contacts_fly_together(self):
        state = after(drawn(".x...x", "...o.."), "right")
        assert (contacts(state), state.ring) == ("x.x...", 3)

    @pytest.mark.parametrize("row", ["x.....", "x.x..."])
    def test_it_wins_in_the_centre_also_as_two_contacts(self, row):
        state = after(drawn(row, "o.....", ring=1, fixes=1), "advance")
        assert state.returns.tolist() == [1, -1]
        assert GAME.view(state).marks == [(8, col) for col in range(6) if row[col] == "x"]


class TestSensor:
    """A sure look where the beam points, glances elsewhere."""

    def test_the_beam_turns_by_two_sectors_at_most(self):
        state = drawn("x.....", "o.....", SENSOR)
        assert names(state) == ["track", "search", "point 2", "point 3", "point 5", "point 6"]

    def test_a_track_of_one_clear_contact_is_a_fix_without_a_throw(self):
        state = after(drawn("..x...", "..o...", SENSOR), "track")
        assert (state.fixes, state.rounds, state.to_play) == (1, 9, ATTACKER)

    @pytest.mark.parametrize(
        ("contact", "move", "faces"),
        [
            (".x....", "track", 0),
            (".x....", "search", 2),
            ("..x...", "search", 2),
            ("....x.", "search", 0),
            ("....x.", "point 5", 2),
            ("...x..", "point 5", 0),
        ],
    )
    def test_a_glance_finds_what_it_looks_at_with_two_faces_of_six(self, contact, move, faces):
        check_faces(drawn(contact, "..o...", SENSOR), move, faces)

    @pytest.mark.parametrize(
        ("jam", "quiet", "move", "faces"),
        [
            (0, 1, "track", 4),
            (1, 0, "track", 4),
            (2, 0, "track", 4),
            (1, 1, "track", 2),
            (0, 1, "search", 0),
            (2, 0, "search", 0),
        ],
    )
    def test_jamming_and_quiet_take_two_faces_each(self, jam, quiet, move, faces):
        check_faces(drawn("..x...", "..o...", SENSOR, jam=jam, quiet=quiet), move, faces)

    def test_a_jam_spoils_two_looks_and_quiet_one(self):
        jammed = after(drawn("..x...", "..o..."), "jam", "track", NOTHING, "advance")
        assert after(jammed, "track").to_play == CHANCE
        assert after(jammed, "track", NOTHING, "advance", "track").fixes == 1
        hushed = after(drawn("..x...", "..o..."), "quiet", "track")
        assert hushed.to_play == CHANCE
        assert after(hushed, NOTHING, "advance", "track").fixes == 1

    def test_enough_fixes_win(self):
        state = after(drawn("..x...", "..o...", SENSOR, fixes=1), "track")
        assert state.returns.tolist() == [-1, 1]
        assert GAME.view(state).marks == [(10, 0)]


def check_faces(state, move, faces):
    """The look is decided by so many faces of a die; with none, chance is not asked."""
    looked = after(state, move)
    if faces == 0:
        assert (looked.to_play, looked.fixes, looked.rounds) == (ATTACKER, 0, state.rounds - 1)
        return
    assert looked.to_play == CHANCE
    chances = [
        (int(state.sector), pytest.approx(faces / 6)),
        (NOTHING, pytest.approx(1 - faces / 6)),
    ]
    assert GAME.chances(looked) == chances
    assert [after(looked, outcome).fixes for outcome, _ in chances] == [1, 0]


class TestTwoContacts:
    """Chance says which is real, once a look finds one."""

    def test_a_track_asks_which_is_real(self):
        looked = after(drawn(".x.x..", ".o....", SENSOR), "track")
        assert GAME.chances(looked) == [(1, 0.5), (3, 0.5)]
        assert [GAME.outcome_name(sector) for sector in GAME.legal(looked)] == [
            "sector 2",
            "sector 4",
        ]

    def test_a_glance_finds_either_or_nothing(self):
        looked = after(drawn(".x.x..", "..o...", SENSOR), "search")
        assert dict(GAME.chances(looked)) == pytest.approx({1: 1 / 6, 3: 1 / 6, NOTHING: 2 / 3})
        missed = after(looked, NOTHING)
        assert (missed.decoy, missed.fixes, contacts(missed)) == (1, 0, ".x.x..")
        assert GAME.outcome_name(NOTHING) == "nothing"

    @pytest.mark.parametrize(
        ("beam", "move", "real", "fixes"),
        [
            (".o....", "track", 1, 1),
            (".o....", "track", 3, 0),
            ("..o...", "search", 1, 1),
            ("..o...", "search", 3, 1),
            ("o.....", "search", 3, 0),
        ],
    )
    def test_the_false_one_vanishes_and_the_real_one_is_a_fix_if_looked_at(
        self, beam, move, real, fixes
    ):
        state = after(drawn(".x.x..", beam, SENSOR), move, real)
        assert (state.fixes, state.decoy, state.sector) == (fixes, 0, real)
        assert state.to_play == ATTACKER

    def test_a_look_between_them_finds_nothing(self):
        state = after(drawn(".x.x..", "..o...", SENSOR), "track")
        assert (state.decoy, state.to_play) == (1, ATTACKER)


class TestBeginningAndEnd:
    """Chance begins; the rounds are bounded; somebody wins."""

    def test_beam_and_attacker_begin_in_any_sector(self):
        state = GAME.new_state()
        for _ in range(2):
            assert state.to_play == CHANCE
            assert GAME.chances(state) == [(sector, pytest.approx(1 / 6)) for sector in range(6)]
            GAME.apply(state, int(state.turn) + 2)
        assert (state.beam, state.sector, state.ring, state.energy) == (2, 3, 8, 3)
        assert state.to_play == ATTACKER

    @pytest.mark.parametrize("rounds", [2, 16])
    def test_an_attacker_that_stands_still_loses_to_a_sensor_that_never_sees_it(self, rounds):
        state = drawn("x.....", "...o..", ring=8, rounds=rounds)
        for _ in range(rounds):
            assert not state.is_over
            state = after(state, "quiet", "track")
        assert state.returns.tolist() == [-1, 1]
        assert GAME.view(state).marks == [(10, 4)]

    def test_every_random_game_is_decided_and_both_win_some(self):
        generator, winners = np.random.default_rng(1), []
        for _ in range(80):
            state = DEFAULT.new_state()
            while not state.is_over:
                DEFAULT.apply(state, int(generator.choice(DEFAULT.legal(state))))
            assert sorted(state.returns.tolist()) == [-1, 1]
            winners.append(int(state.returns.argmax()))
        assert 10 < sum(winners) < 70

    @pytest.mark.parametrize("action", range(6))
    def test_an_attacker_who_always_does_the_same_is_beaten_by_one_who_follows(self, action):
        winners = [play_out(lambda _, legal: action, follow, seed) for seed in range(20)]
        assert sum(winners) > 10

    @pytest.mark.parametrize("action", range(6, DEFAULT.num_actions))
    def test_a_sensor_who_always_does_the_same_is_beaten_by_one_who_dodges(self, action):
        winners = [play_out(dodge, lambda _, legal: action, seed) for seed in range(20)]
        assert sum(winners) <= 4


def play_out(attacker, sensor, seed):
    """Who wins; any legal action is played where the one that is chosen is not."""
    state, generator = DEFAULT.new_state(), np.random.default_rng(seed)
    while not state.is_over:
        legal = DEFAULT.legal(state)
        if state.to_play == CHANCE:
            outcomes, chances = zip(*DEFAULT.chances(state), strict=True)
            action = int(generator.choice(outcomes, p=chances))
        else:
            action = (attacker, sensor)[state.to_play](state, legal)
            action = action if action in legal else int(generator.choice(legal))
        DEFAULT.apply(state, action)
    return int(state.returns.argmax())


def follow(state, legal):
    """Tracks a contact in the beam; else turns as near to one as it can."""
    target = POINT + int(DEFAULT.contact(state, 0))
    if target == POINT + state.beam:
        return TRACK
    return min(legal[2:], key=lambda point: min((point - target) % 8, (target - point) % 8))


def dodge(state, legal):
    """Flies where the beam was not."""
    apart = int(state.sector - state.beam) % 8
    return ADVANCE if 1 < apart < 7 else RIGHT if apart < 2 else LEFT


class TestAroundTheRules:
    """Names, parameters, positions made by hand."""

    def test_names_are_understood_in_capitals_too(self):
        assert GAME.parse_action(" Point  3") == GAME.parse_action("point 3") == 10

    def test_a_click_before_a_contact_flies_there_and_one_below_turns_the_beam(self):
        grid = GAME.view(drawn("x.....", "..o..."))
        assert grid.actions[5] == [0, 2, -1, -1, -1, 1]
        assert grid.actions[9] == [8, 9, 6, 11, 12, 13]

    def test_the_text_says_what_the_numbers_mean(self):
        lines = GAME.text(drawn("x.....", "..o...", SENSOR, quiet=1, jam=1)).split("\n")
        assert lines[4] == " 4 x . . . . ."
        assert lines[9] == "   . . o . . ."
        assert lines[10] == (
            "fixes 0/2, energy 1/3, jammed turns 1, rounds left 10, quiet; sensor to play"
        )

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"contacts": "xx...."}, "there must be one contact (x), or two in a ring"),
            ({"contacts": "......"}, "there must be one contact (x), or two in a ring"),
            ({"contacts": "x..x.."}, "there must be one contact (x), or two in a ring"),
            ({"beam": "oo...."}, "must hold the beam (o) once"),
            ({"energy": 4}, "energy must be 0 to 3, not '4'"),
            ({"rounds": "x"}, "rounds must be 0 to 16, not 'x'"),
        ],
    )
    def test_what_cannot_be_drawn_is_refused(self, change, message):
        with pytest.raises(ValueError, match=re.escape(message)):
            drawn(**({"contacts": "x.....", "beam": "o....."} | change))

    def test_positions_of_random_games_can_be_made_by_hand(self):
        generator = np.random.default_rng(5)
        for _ in range(5):
            state = GAME.new_state()
            while not state.is_over:
                if state.to_play != CHANCE:
                    made = set_up_position(GAME, GAME.view(state).cells, int(state.to_play))
                    assert all(made[name] == state[name] for name in GAME.fields())
                GAME.apply(state, int(generator.choice(GAME.legal(state))))
            assert set_up_position(GAME, GAME.view(state).cells, int(state.to_play)).is_over

    def test_cells_can_hold_contacts_beams_and_numbers(self):
        assert set(".xo012") <= set(cell_texts(GAME))

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ("sectors=4", "sectors must be 5 to 12, not 4"),
            ("rings=1", "rings must be 2 to 12, not 1"),
            ("fixes=0", "fixes must be 1 to 9, not 0"),
            ("energy=10", "energy must be 1 to 9, not 10"),
            ("rounds=61", "rounds must be 2 to 60, not 61"),
        ],
    )
    def test_wrong_parameters_are_refused(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            make_game(f"sensor-jammer({parameters})")
