"""The columns that are written while a game is played again, beside a slow reference."""

import dataclasses
import math

import numpy as np
import pytest
from played_games import (
    DOTS_AND_BOXES,
    GAMES,
    QUIET,
    TIC_TAC_TOE,
    DrawnEvaluator,
    make_worker,
    play_games,
    positions_of,
    search_of,
)
from slow_targets import slow_columns

from plainzero import make_game, search
from plainzero.games.contract import has_score
from plainzero.selfplay.observations import targets_of
from plainzero.selfplay.records import GameRecord, from_table, join, to_table
from plainzero.selfplay.worker import Worker
from plainzero.targets.all_targets import COLUMNS, TARGETS, Rows, wanted_columns
from plainzero.targets.target import PROVEN, SEARCHED, UNSEARCHED, USUAL_CHOICE, Choice

EVERYTHING = Choice(tuple(target.name for target in TARGETS), horizons=(1.5, 6.0))


def changed(**options):
    return dataclasses.replace(QUIET, **options)


def played(game, config, count=6, choice=EVERYTHING, **search_options):
    options = search_of(**({"simulations": 6} | search_options))
    worker = Worker(game, DrawnEvaluator(game), options, config, seed=3, choice=choice)
    return play_games(worker, count)


@pytest.mark.slow
@pytest.mark.parametrize("game", [*GAMES.values(), make_game("go(size=3)")], ids=lambda g: g.name)
def test_columns_are_those_of_the_slow_reference(game):
    config = changed(opening_share=1.0, opening_plies=3, full_share=0.6, cheap_simulations=2)
    records = played(game, config)
    found = targets_of(game, records, EVERYTHING)
    expected = slow_columns(game, records, EVERYTHING.horizons)
    for name, numbers in expected.items():
        column = found.targets[name]
        assert column.dtype == np.float32 and column.shape == numbers.shape, name
        np.testing.assert_allclose(column, numbers, atol=2e-6, err_msg=name)
    assert {*expected} == {*found.targets}
    assert np.isfinite(found.targets["score"]).all() == has_score(game)
    assert found.targets["surprise"].std() > 0.1
    if game.num_players > 1:
        has_reply = found.targets["replies"].any(1)
        assert has_reply.any() and not has_reply.all()


def hand_made(values, policies, search_kinds, is_target, returns):
    count = len(values)
    return GameRecord(
        moves=np.array([4, 0, 8, 2][:count], np.int32),
        policies=np.array(policies, np.float32),
        values=np.array([[v, -v] for v in values], np.float32),
        is_target=np.array(is_target),
        returns=np.array(returns, np.float32),
        opening=0,
        ending="resignation",
        would_resign=-1,
        first_step=0,
        last_step=0,
        simulations=0,
        search=np.array(search_kinds, np.int8),
        surprise=np.array([0.1, 0.3, 0.2, 0.9][:count], np.float32),
    )


def test_columns_of_a_game_worked_out_by_hand():
    rows = np.eye(9, dtype=np.float32)[[4, 0, 8, 2]]
    kinds = [SEARCHED, SEARCHED, UNSEARCHED, SEARCHED]
    record = hand_made([0.5, -0.25, 0.0, 1.0], rows, kinds, [True, True, False, True], [-1, 1])
    choice = Choice(EVERYTHING.names, horizons=(1.0,))
    found = targets_of(TIC_TAC_TOE, [record], choice).targets
    # From the end, for the first player, halving what comes later: outcome −1, 1.0, −0.25, 0.5.
    last = 0.5 * 1.0 + 0.5 * -1.0
    second = 0.5 * -0.25 + 0.5 * last
    first = 0.5 * 0.5 + 0.5 * second
    assert found["short_values"][:, 0].tolist() == pytest.approx([first, -second, -last])
    # The last search was the second player's too: no reply to the second move.
    assert found["replies"].argmax(1).tolist() == [0, 0, 0]
    assert found["replies"].sum(1).tolist() == [1, 0, 0]
    assert found["surprise"].tolist() == pytest.approx(
        [0.1 / 1.3 * 3, 0.3 / 1.3 * 3, 0.9 / 1.3 * 3]
    )


def test_positions_weigh_the_same_if_nothing_was_a_surprise():
    record = hand_made([0.5, 0.1], np.eye(9)[[4, 0]], [1, 1], [True, True], [1, -1])
    record = record._replace(surprise=np.zeros(2, np.float32))
    assert targets_of(TIC_TAC_TOE, [record], EVERYTHING).targets["surprise"].tolist() == [1, 1]


def test_a_proven_position_has_its_exact_value_whatever_was_played_later():
    record = hand_made([1.0, 0.25], np.eye(9)[[4, 0]], [PROVEN, SEARCHED], [True, True], [-1, 1])
    found = targets_of(TIC_TAC_TOE, [record]).targets
    assert found["outcomes"].tolist() == [[1, -1], [1, -1]]


@pytest.mark.slow
def test_proven_moves_are_marked_and_their_values_are_exact():
    from test_selfplay_games import value_of

    config = changed(games=16, end_proven=False, temperature=2.0)
    records = played(TIC_TAC_TOE, config, 24, simulations=40, proven_values=True)
    known, proven = {}, 0
    for record in records:
        for turn, state in enumerate(positions_of(TIC_TAC_TOE, record)[:-1]):
            if record.search[turn] == PROVEN:
                value = value_of(TIC_TAC_TOE, state, known)
                assert record.values[turn][state.to_play] == value
                proven += 1
            else:
                assert record.search[turn] == SEARCHED
    assert proven > 24


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_surprise_is_the_divergence_from_the_prior_without_noise(noise):
    records = played(TIC_TAC_TOE, changed(games=4), 4, selection="puct", noise_weight=noise)
    evaluator = DrawnEvaluator(TIC_TAC_TOE)
    for record in records:
        for turn, state in enumerate(positions_of(TIC_TAC_TOE, record)[:-1]):
            prior = search(TIC_TAC_TOE, state, evaluator, search_of(1)).prior
            expected = sum(
                p * math.log(p / q)
                for p, q in zip(record.policies[turn], prior, strict=True)
                if p > 0
            )
            assert record.surprise[turn] == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_surprise_is_measured_only_if_it_is_wanted():
    (record, *_) = played(TIC_TAC_TOE, changed(games=4), 4, choice=USUAL_CHOICE)
    assert not record.surprise.any() and (record.search == SEARCHED).all()


@pytest.mark.slow
def test_scores_are_unknown_where_a_proof_came_before_the_last_move():
    config = changed(games=8, end_proven=True)
    records = played(DOTS_AND_BOXES, config, 24, simulations=24, proven_values=True)
    ends = [positions_of(DOTS_AND_BOXES, record)[-1].is_over for record in records]
    assert not all(ends)
    found = targets_of(DOTS_AND_BOXES, records, EVERYTHING).targets
    known = np.repeat(ends, [record.is_target.sum() for record in records])
    np.testing.assert_array_equal(np.isfinite(found["score"]), known)
    np.testing.assert_array_equal(np.isfinite(found["ownership"]).all(1), known)
    np.testing.assert_array_equal(np.isnan(found["ownership"]).all(1), ~known)


@pytest.mark.slow
def test_columns_that_are_not_wanted_are_not_there():
    records = play_games(make_worker(DOTS_AND_BOXES, search_of(3)), 2)
    assert [*targets_of(DOTS_AND_BOXES, records).targets] == ["policies", "outcomes", "values"]
    names = [column.name for column in wanted_columns(EVERYTHING)]
    assert [*targets_of(DOTS_AND_BOXES, records, EVERYTHING).targets] == names
    assert Rows._fields == ("states", *names, "decays") and len(COLUMNS) == len(names)


@pytest.mark.slow
def test_tables_without_the_new_columns_are_read_as_if_nothing_was_proven():
    records = played(TIC_TAC_TOE, changed(opening_share=1.0, opening_plies=3), choice=USUAL_CHOICE)
    table = to_table(TIC_TAC_TOE, join(records))
    assert "surprise" not in table.schema.names
    old = from_table(TIC_TAC_TOE, table.drop_columns(["search"]))
    assert max(record.opening for record in records) > 0
    for one, other in zip(old, records, strict=True):
        np.testing.assert_array_equal(one.search, other.search)
        np.testing.assert_array_equal(one.surprise, other.surprise)
