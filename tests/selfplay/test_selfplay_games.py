"""What self-play writes down, against the plain rules and against searches made again."""

import dataclasses

import numpy as np
import pytest
from played_games import (
    DOTS_AND_BOXES,
    GAMES,
    QUIET,
    TIC_TAC_TOE,
    TRIO,
    TWENTY_FORTY_EIGHT,
    DrawnEvaluator,
    as_key,
    make_worker,
    play_games,
    positions_of,
    search_of,
)

from plainzero import CHANCE, Game, field, search
from plainzero.games.check.quick_check import remember_checked
from plainzero.games.contract import RuleFault
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.selfplay.games_in_progress import IN_PROGRESS, make_play_options
from plainzero.selfplay.observations import observe_all, targets_of
from plainzero.targets.target import Choice

pytestmark = pytest.mark.slow

WITHOUT_CHANCE = [TIC_TAC_TOE, DOTS_AND_BOXES, TRIO]


def changed(**options):
    return dataclasses.replace(QUIET, **options)


# ---- the rules -----------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_games_are_legal_and_end_as_recorded(game):
    config = SelfPlayConfig(games=4, opening_plies=3, end_proven=False)
    worker = make_worker(game, search_of(6, noise_weight=0.25), config)
    for record in play_games(worker, 4):
        positions = positions_of(game, record)  # which refuses illegal moves
        assert positions[-1].is_over and not positions[-2].is_over
        assert record.ending == "rules"
        np.testing.assert_array_equal(record.returns, positions[-1].returns)
        assert len(record.moves) == len(record.policies) == len(record.values)


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_targets_are_every_move_but_those_of_chance_and_of_the_opening(game):
    config = changed(games=4, opening_share=1.0, opening_plies=4)
    records = play_games(make_worker(game, search_of(4), config), 4)
    for record in records:
        movers = np.array([state.to_play for state in positions_of(game, record)[:-1]])
        chosen = np.arange(len(movers)) >= record.opening
        np.testing.assert_array_equal(record.is_target, chosen & (movers != CHANCE))
        np.testing.assert_array_equal(record.policies.sum(1) > 0, record.is_target)
        assert not record.values[~record.is_target].any()
    if game is TWENTY_FORTY_EIGHT:
        assert any((~record.is_target[record.opening :]).any() for record in records)
    else:
        assert max(record.opening for record in records) > 0


def test_openings_are_as_long_as_asked_and_as_frequent():
    config = changed(games=64, opening_share=0.5, opening_plies=3)
    records = play_games(make_worker(TIC_TAC_TOE, search_of(1), config), 400)
    lengths = np.array([record.opening for record in records])
    assert set(lengths) == {0, 1, 2, 3}
    assert 0.3 < (lengths > 0).mean() < 0.45  # 3/8 of them
    assert len({tuple(record.moves[:2]) for record in records if record.opening >= 2}) > 20


def test_first_games_start_anywhere_and_later_ones_do_not():
    config = changed(games=256, staggered=True)
    records = play_games(make_worker(TIC_TAC_TOE, search_of(1), config), 600)
    openings = np.array([record.opening for record in records])
    assert (openings > 0).sum() <= 256  # the first game of each row, at most
    started = np.bincount(openings[openings > 0], minlength=8)
    assert (started[1:7] > 10).all()  # one or more random moves, up to nearly a whole game


class EightCoins(Game):
    """Eight times, the player moves and then a coin falls."""

    num_players = 1
    num_actions = 2
    max_chance_outcomes = 2
    observation_shape = (1,)
    max_turns = 16

    def fields(self):
        return {"unused": field(np.int8)}

    def legal_actions(self, state, actions):
        actions[0] = 0
        actions[1] = 1
        return 2

    def chance_outcomes(self, state, actions, probabilities):
        for side in range(2):
            actions[side] = side
            probabilities[side] = 0.5
        return 2

    def play(self, state, action):
        state.to_play = 0 if state.to_play == CHANCE else CHANCE
        if state.turn == 15:
            self.draw(state)

    def observe(self, state, planes):
        planes[0] = state.turn


def test_first_games_start_anywhere_although_chance_moves_too():
    worker = make_worker(EightCoins(), search_of(1), changed(games=400, staggered=True))
    worker.play_round()
    started = np.bincount(worker.games.status["opening"] // 2, minlength=8)
    assert started.min() > 25 and started.max() < 80  # 50 each


class EndlessCoins(EightCoins):
    """It should end after `max_turns`, and never does."""

    def play(self, state, action):
        state.to_play = 0 if state.to_play == CHANCE else CHANCE


def test_a_first_game_that_does_not_end_stays_within_its_memory():
    game = EndlessCoins()
    remember_checked(game)  # as if it ended in the games that were checked
    worker = make_worker(game, search_of(1), changed(games=2, staggered=True))
    with pytest.raises(RuleFault, match="max_turns"):
        worker.play_round()
    assert worker.games.status["length"].max() < worker.games.moves.shape[1]


def test_first_games_to_end_are_not_the_shortest_if_staggered():
    first, all_games = {}, {}
    for staggered in (False, True):
        search, config = search_of(9, noise_weight=0.9), changed(games=256, staggered=staggered)
        records = play_games(make_worker(TIC_TAC_TOE, search, config), 2000)
        lengths = np.array([len(record.moves) for record in records])
        first[staggered], all_games[staggered] = lengths[:100].mean(), lengths.mean()
    assert first[False] < all_games[False] - 0.8
    assert abs(first[True] - all_games[True]) < 0.4


# ---- what is learned -----------------------------------------------------------------------------


@pytest.mark.parametrize("game", WITHOUT_CHANCE, ids=lambda game: game.name)
@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_targets_are_those_of_a_search_of_the_same_position(game, temperature):
    """Untempered, whatever the temperature; and values are per seat."""
    config, evaluator = changed(games=3, temperature=temperature), DrawnEvaluator(game)
    for record in play_games(make_worker(game, search_of(), config), 3):
        for turn, state in enumerate(positions_of(game, record)[:-1]):
            result = search(game, state, evaluator, search_of())
            np.testing.assert_allclose(record.policies[turn], result.policy_target, atol=1e-6)
            np.testing.assert_allclose(record.values[turn], result.values, atol=1e-6)
            if temperature == 0:
                assert record.moves[turn] == result.best_action


def test_moves_are_drawn_by_visits():
    config = changed(games=128)
    records = play_games(make_worker(TIC_TAC_TOE, search_of(16), config), 600)
    first = np.bincount([record.moves[0] for record in records], minlength=9)
    expected = records[0].policies[0] * len(records)
    assert (first[expected == 0] == 0).all()
    assert (np.abs(first - expected) < 4 * np.sqrt(expected) + 1e-9).all()


def test_the_best_move_is_played_after_the_temperature_turns():
    config = changed(games=32, temperature_turns=2)
    records = play_games(make_worker(TIC_TAC_TOE, search_of(16), config), 64)
    most = np.array(
        [[r.policies[t][r.moves[t]] == r.policies[t].max() for t in (0, 2, 3)] for r in records]
    )
    assert not most[:, 0].all() and most[:, 1:].all()


def test_noise_reaches_the_search():
    quiet = play_games(make_worker(TIC_TAC_TOE), 8)
    noisy = play_games(make_worker(TIC_TAC_TOE, search_of(noise_weight=0.5)), 8)
    assert len({record.policies[0].tobytes() for record in quiet}) == 1
    assert len({record.policies[0].tobytes() for record in noisy}) > 4


def test_gumbel_plays_and_teaches():
    records = play_games(make_worker(TIC_TAC_TOE, search_of(16, selection="gumbel")), 16)
    for record in records:
        positions_of(TIC_TAC_TOE, record)
        np.testing.assert_allclose(record.policies.sum(1), 1, atol=1e-5)
    assert len({record.moves.tobytes() for record in records}) > 4


# ---- playout-cap randomisation -------------------------------------------------------------------


def test_cheap_moves_are_no_targets_get_few_simulations_and_no_noise():
    config = changed(games=8, full_share=0.5, cheap_simulations=3)
    evaluator, cheap = DrawnEvaluator(TIC_TAC_TOE), search_of(3)
    worker = make_worker(TIC_TAC_TOE, search_of(12, noise_weight=0.9), config)
    records = play_games(worker, 40)
    noisy_values = 0
    for record in records:
        full = int(record.is_target.sum())
        assert record.simulations == 12 * full + 3 * (len(record.moves) - full)
        assert not record.policies[~record.is_target].any()
        for turn, state in enumerate(positions_of(TIC_TAC_TOE, record)[:-1]):
            is_full = record.is_target[turn]
            result = search(TIC_TAC_TOE, state, evaluator, search_of(12) if is_full else cheap)
            is_same = np.allclose(record.values[turn], result.values, atol=1e-6)
            assert is_same or is_full
            noisy_values += not is_same
    assert noisy_values > 20
    targets = np.concatenate([record.is_target for record in records])
    assert 0.4 < targets.mean() < 0.6


# ---- a growing budget ----------------------------------------------------------------------------


def test_the_budget_grows_evenly_with_the_steps():
    config = changed(games=8, opening_share=0.0, first_simulations=4, growing_steps=100)
    worker = make_worker(TIC_TAC_TOE, search_of(20), config)
    for step, simulations in [(0, 4), (50, 12), (99, 20), (100, 20), (1000, 20)]:
        worker.use_weights(step)
        play_games(worker, 16)  # those in progress have earlier searches
        record = next(r for r in play_games(worker, 40) if r.first_step == r.last_step == step)
        assert record.simulations == simulations * len(record.moves)


def test_the_budget_does_not_shrink():
    with pytest.raises(ValueError, match=r"first_simulations is 20; it must be below .* is 20"):
        make_worker(TIC_TAC_TOE, search_of(20), changed(first_simulations=20))
    with pytest.raises(ValueError, match="growing_steps is 9, but has an effect only with first"):
        changed(growing_steps=9)


# ---- whose value ---------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_learned_values_are_from_the_mover_on(game):
    records = play_games(make_worker(game, search_of(4), changed(games=4)), 4)
    learned, row, stayed = targets_of(game, records), 0, 0
    policies, outcomes, values = learned.targets.values()
    for record in records:
        positions = positions_of(game, record)
        for turn in np.flatnonzero(record.is_target):
            state, mover = positions[turn], int(positions[turn].to_play)
            assert all(np.array_equal(state[n], learned.states[row][n]) for n in game.fields())
            np.testing.assert_array_equal(outcomes[row], np.roll(record.returns, -mover))
            np.testing.assert_array_equal(values[row], np.roll(record.values[turn], -mover))
            np.testing.assert_array_equal(policies[row], record.policies[turn])
            stayed += positions[turn + 1].to_play == mover
            row += 1
    assert row == len(learned.states)
    assert stayed > 0 if game is DOTS_AND_BOXES else True
    planes = observe_all(game, learned.states)
    np.testing.assert_array_equal(planes[0], game.observation(learned.states[0]))


# ---- endings before the end ----------------------------------------------------------------------


def value_of(game, state, known):
    """What best play gives the mover, by looking at everything."""
    if state.is_over:
        return float(state.returns[state.to_play])
    key = state.tobytes()
    if key not in known:
        known[key] = max(-value_of(game, after, known) for after in followers(game, state))
    return known[key]


def followers(game, state):
    for action in game.legal(state):
        after = game.copy(state)
        game.apply(after, action)
        yield after


def test_a_proven_game_ends_with_its_exact_result():
    config = changed(games=16, end_proven=True, opening_share=1.0, opening_plies=4)
    worker = make_worker(TIC_TAC_TOE, search_of(60, proven_values=True), config)
    records, known = play_games(worker, 32), {}
    proven = [record for record in records if record.ending == "proof"]
    assert len(proven) > 16
    for record in proven:
        *_, before, after = positions_of(TIC_TAC_TOE, record)
        value = value_of(TIC_TAC_TOE, before, known)
        assert record.returns[before.to_play] == value == -record.returns[1 - before.to_play]
        assert record.values[-1][before.to_play] == value
        assert -value_of(TIC_TAC_TOE, after, known) == value or after.is_over
        assert record.is_target[-1]


class AgainstFirst:
    """Says of every position of tic-tac-toe that the first player loses, with equal priors."""

    def __call__(self, planes):
        stones = planes.reshape(len(planes), -1).sum(1)
        is_first = stones % 2 == 0
        values = np.where(is_first, -0.95, 0.95).astype(np.float32)
        return np.zeros((len(planes), 9), np.float32), values


def test_who_resigns_loses():
    config = changed(resign_below=0.9, resign_turns=2, resign_checked=0.0)
    worker = make_worker(TIC_TAC_TOE, search_of(2), config, evaluator=AgainstFirst())
    for record in play_games(worker, 16):
        assert record.ending == "resignation" and record.would_resign == -1
        assert record.returns.tolist() == [-1, 1]
        assert len(record.moves) == 3  # its second turn: that move is written down
        assert record.is_target.all()


def test_checked_games_are_played_on_and_wrong_resignations_counted():
    from plainzero.selfplay.records import join
    from plainzero.training.metrics import describe_games

    config = changed(resign_below=0.9, resign_turns=2, resign_checked=1.0)
    worker = make_worker(TIC_TAC_TOE, search_of(2), config, evaluator=AgainstFirst())
    records = play_games(worker, 64)
    assert {(record.ending, record.would_resign) for record in records} == {("rules", 0)}
    kept = sum(positions_of(TIC_TAC_TOE, record)[-1].returns[0] >= 0 for record in records)
    columns = join(records)
    found = describe_games(columns.per_game, columns.lengths)
    assert found["false_resign_rate"] == kept / len(records) > 0.3
    assert found["resign_rate"] == 0


def test_every_option_reaches_the_compiled_code():
    config = SelfPlayConfig(
        temperature=0.5,
        temperature_turns=3,
        reuse_tree=True,
        full_share=0.25,
        cheap_simulations=5,
        opening_share=0.75,
        opening_plies=7,
        staggered=False,
        end_proven=False,
        resign_below=0.875,
        resign_turns=4,
        resign_checked=0.125,
    )
    defaults = make_play_options(SelfPlayConfig(), search_of(6))[0]
    choice = Choice(("policy", "value", "surprise"))
    (found,) = make_play_options(config, search_of(0, visits=9), choice)
    assert found["records_surprise"] and not defaults["records_surprise"]
    others = {"step", "full_simulations", "full_visits", "records_surprise"}
    for name in set(found.dtype.names) - others:
        assert found[name] == getattr(config, name) != defaults[name], name
    assert (defaults["full_simulations"], found["full_visits"]) == (6, 9)


def test_a_record_names_the_weights_of_its_first_and_last_move():
    worker, records = make_worker(TIC_TAC_TOE, search_of(2)), []
    for step in range(0, 400, 10):
        worker.use_weights(step)
        for _ in range(5):  # new weights restart the searches, so one round would finish none
            found = worker.play_round()
            assert {record.last_step for record in found} <= {step}
            records += found
    assert len(records) > 24
    assert {record.first_step % 10 for record in records} == {0}
    assert any(record.first_step < record.last_step for record in records)


def test_a_share_of_games_is_checked():
    config = changed(games=64, resign_below=0.9, resign_turns=1, resign_checked=0.25)
    worker = make_worker(TIC_TAC_TOE, search_of(2), config, evaluator=AgainstFirst())
    endings = [record.ending for record in play_games(worker, 400)]
    assert 0.1 < np.mean([ending == "rules" for ending in endings]) < 0.3


def test_a_hopeful_turn_in_between_resets_the_count():
    class Changing(AgainstFirst):
        def __call__(self, planes):
            logits, values = super().__call__(planes)
            stones = planes.reshape(len(planes), -1).sum(1)
            return logits, np.where((stones == 2) | (stones == 3), -values, values)

    config = changed(resign_below=0.5, resign_turns=3, resign_checked=0.0)
    search = search_of(2, noise_weight=0.9)
    records = play_games(make_worker(TIC_TAC_TOE, search, config, evaluator=Changing()), 64)
    assert {record.ending for record in records} == {"rules"}
    long = [record.values[[0, 2, 4, 6], 0] < -0.5 for record in records if len(record.moves) > 7]
    assert [True, False, True, True] in np.array(long).tolist()  # three low turns, not in a row


# ---- many games ----------------------------------------------------------------------------------


def test_finished_games_are_replaced_at_once():
    worker, finished = make_worker(TIC_TAC_TOE, search_of(2)), 0
    for _ in range(100):
        before = worker.games.status["length"].copy()
        records = worker.play_round()
        finished += len(records)
        assert (worker.games.status["ending"] == IN_PROGRESS).all()
        ended = worker.games.status["length"] < before
        assert ended.sum() == len(records)
    assert finished > 20


def test_equal_seeds_give_equal_games():
    search, config = search_of(noise_weight=0.25), changed(opening_share=0.5, opening_plies=2)

    def games(**changes):
        return [
            as_key(record)
            for record in play_games(make_worker(TIC_TAC_TOE, search, config, **changes), 20)
        ]

    assert games(seed=5) == games(seed=5)
    assert games(seed=5) != games(seed=6)
    assert not set(games(seed=5)) & set(games(seed=5, number=1))


def test_a_game_is_the_same_whatever_is_played_beside_it():
    search = search_of(noise_weight=0.25)
    few, many = (make_worker(TIC_TAC_TOE, search, changed(games=count)) for count in (3, 7))
    played_few, played_many = set(), set()
    for _ in range(200):
        played_few |= {as_key(record) for record in few.play_round()}
        played_many |= {as_key(record) for record in many.play_round()}
    assert len(played_few) > 3 and played_few < played_many


def test_restored_workers_go_on_alike():
    config = changed(games=5, full_share=0.5, opening_share=0.5, opening_plies=2, reuse_tree=True)
    search = search_of(noise_weight=0.25)
    worker = make_worker(TIC_TAC_TOE, search, config)
    for _ in range(33):
        worker.play_round()
    state = worker.state()
    other = make_worker(TIC_TAC_TOE, search, config, seed=99)
    going_on = []
    for one in (worker, other):
        one.restore(state)
        one.use_weights(7)
        going_on.append(play_games(one, 20))
    assert [*map(as_key, going_on[0])] == [*map(as_key, going_on[1])]
    assert {record.last_step for record in going_on[0]} == {7}
    assert {record.first_step for record in going_on[0]} == {0, 7}  # begun before, or since


def test_games_of_another_number_are_not_restored():
    state = make_worker(TIC_TAC_TOE, config=changed(games=3)).state()
    with pytest.raises(ValueError, match="the saved games do not fit: streams"):
        make_worker(TIC_TAC_TOE, config=changed(games=4)).restore(state)


class Purse(Game):
    """A game that nobody plays, with two fields of one shape."""

    num_actions, observation_shape, max_turns = 1, (1,), 1

    def fields(self):
        return {"coins": field(np.int16, 4), "debts": field(np.int16, 4)}

    def legal_actions(self, state, actions):
        actions[0] = 0
        return 1

    def play(self, state, action):
        self.draw(state)


class Swapped(Purse):
    """The same fields in another order."""

    def fields(self):
        return dict(reversed(super().fields().items()))


def test_games_of_other_rules_are_not_restored_though_they_are_as_large():
    worker = make_worker(Purse())
    worker.games.states["coins"] = 7
    with pytest.raises(ValueError, match="the saved games were played by other rules"):
        make_worker(Swapped()).restore(worker.state())
    other = make_worker(Purse())
    other.restore(worker.state())
    assert (other.games.states["coins"] == 7).all() and not other.games.states["debts"].any()


def test_a_kept_tree_saves_simulations():
    totals = []
    for reuse in (False, True):
        search = search_of(0, visits=24)
        worker = make_worker(TIC_TAC_TOE, search, changed(reuse_tree=reuse))
        records = play_games(worker, 24)
        for record in records:
            positions_of(TIC_TAC_TOE, record)
        totals.append(np.mean([record.simulations / len(record.moves) for record in records]))
    assert totals[0] == 24 and totals[1] < 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 1.0}, "measured in simulations or visits"),
        ({"choice": "temperature"}, "leave choice alone"),
        ({"leaves": 4}, "leave leaves at 1"),
        ({"trace": True}, "leave trace at false"),
    ],
)
def test_searches_that_selfplay_cannot_follow_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_worker(TIC_TAC_TOE, search_of(**options))


def test_resigning_is_refused_where_it_means_nothing():
    for game in (TRIO, TWENTY_FORTY_EIGHT):
        with pytest.raises(ValueError, match="resign_below works for two players without chance"):
            make_worker(game, config=changed(resign_below=0.9))
