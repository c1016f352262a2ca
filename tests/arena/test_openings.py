"""Openings: all different, no more than exist, and fairly even."""

import numpy as np
import pytest
from arena_agents import CONNECT_FOUR, TIC_TAC_TOE, TRIO

from plainzero import SearchConfig, make_game, search
from plainzero.arena.openings import draw_openings, position_key
from plainzero.opponents.perfect import move_outcomes


@pytest.mark.parametrize("game", [CONNECT_FOUR, TRIO, make_game("2048(target=64)")])
def test_openings_all_differ_and_replay_to_their_positions(game):
    openings = draw_openings(game, 60, seed=1)
    assert len(openings) == 60
    assert len({position_key(game, opening.state) for opening in openings}) == 60
    for opening in openings:
        state = game.new_state()
        for action in opening.actions:
            game.apply(state, action)
        assert state == opening.state and not state.is_over and state.to_play >= 0


def test_openings_of_a_game_for_one_are_short():
    """Chance alone makes enough of them differ, however long the game is."""
    game = make_game("2048")
    for opening in draw_openings(game, 30, seed=1):
        state, own = game.new_state(), 0
        for action in opening.actions:
            own += state.to_play >= 0
            game.apply(state, action)
        assert own <= 3


def test_the_same_seed_gives_the_same_openings():
    first, again, other = (
        [o.actions for o in draw_openings(CONNECT_FOUR, 20, s)] for s in (3, 3, 4)
    )
    assert first == again != other


def test_mirror_images_count_once():
    """Connect Four has seven first moves, four up to reflection."""
    openings = draw_openings(CONNECT_FOUR, 100, seed=0, plies=1)
    assert sorted(min(o.actions[0], 6 - o.actions[0]) for o in openings) == [0, 1, 2, 3]


def test_transpositions_count_once():
    """Tic-tac-toe has 72 sequences of two plies, and 12 such positions up to symmetry."""
    assert len(draw_openings(TIC_TAC_TOE, 100, seed=0, plies=2)) == 12


def test_a_small_game_gives_all_its_openings():
    openings = draw_openings(TIC_TAC_TOE, 10_000, seed=0)
    assert 30 < len(openings) < 400


def test_openings_become_longer_if_many_are_needed():
    few, many = (draw_openings(CONNECT_FOUR, n, 0)[0].actions for n in (5, 150))
    assert len(few) < len(many) <= 6


def test_chosen_openings_are_more_even_than_random_ones():
    generator, drawn = np.random.default_rng(5), []
    while len(drawn) < 200:
        state = CONNECT_FOUR.new_state()
        while not state.is_over and state.turn < 8:
            CONNECT_FOUR.apply(state, int(generator.choice(CONNECT_FOUR.legal(state))))
        drawn += [state] * (not state.is_over)
    even = [opening.state for opening in draw_openings(CONNECT_FOUR, 200, seed=5, plies=8)]

    def advantage(states):
        config = SearchConfig(simulations=2000, proven_values=True)
        results = search(CONNECT_FOUR, states, "rollout", config, seed=9)
        return np.mean([abs(result.value) for result in results])

    assert advantage(even) < 0.75 * advantage(drawn)


@pytest.mark.parametrize(("plies", "count"), [(3, 20), (4, 50), (None, 50)])
def test_connect_four_starts_from_drawn_positions(plies, count):
    """Three of four positions after random plies are decided."""
    openings = draw_openings(CONNECT_FOUR, count, 1, plies)
    outcomes = move_outcomes(CONNECT_FOUR, [opening.state for opening in openings]).max(axis=1)
    assert len(openings) == count and not outcomes.any()


def test_drawn_openings_come_before_decided_ones():
    """Connect Four has too few drawn positions of two plies: all are used, and others fill up."""
    chosen, every = (draw_openings(CONNECT_FOUR, n, 1, plies=2) for n in (8, 100))
    drawn = [
        sum(move_outcomes(CONNECT_FOUR, [opening.state])[0].max() == 0 for opening in openings)
        for openings in (chosen, every)
    ]
    assert len(chosen) == 8 and drawn[0] == drawn[1] < 8


def test_a_game_without_draws_gets_openings_too():
    assert len(draw_openings(make_game("hex(size=3)"), 4, seed=0)) == 4


def test_negative_plies_are_refused():
    with pytest.raises(ValueError, match="plies is -1"):
        draw_openings(CONNECT_FOUR, 1, 0, plies=-1)
