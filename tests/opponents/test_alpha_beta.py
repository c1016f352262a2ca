"""Alpha-beta against plain minimax, on every kind of game."""

import math

import numpy as np
import pytest
from minimax import is_known, minimax_values

from plainzero import make_game
from plainzero.opponents.alpha_beta import DECAY, AlphaBeta

# game, random plies before the search, depth
CASES = [
    ("tic-tac-toe", 4, 5),
    ("tic-tac-toe", 4, 2),
    ("connect-four", 12, 3),
    ("connect-four", 32, 4),
    ("dots-and-boxes", 5, 3),  # a player may move twice in a row
    ("dots-and-boxes", 7, 5),
    ("trio", 10, 3),  # three players
    ("trio", 11, 5),
    ("2048(size=2,target=8)", 4, 5),  # one player and chance
    ("othello(result=discs)", 54, 8),  # many different values; a player may have to pass
]


@pytest.mark.parametrize("table_bytes", [0, 1 << 12, 1 << 20])
@pytest.mark.parametrize(("name", "plies", "depth"), CASES)
def test_values_equal_those_of_plain_minimax(random_positions, name, plies, depth, table_bytes):
    game = make_game(name)
    agent = AlphaBeta(game, depth=depth, table_bytes=table_bytes)
    for state in random_positions(game, 4, plies, seed=depth):
        analysis = agent.analyse(state)
        expected = minimax_values(game, state, analysis.depth, DECAY)
        found = {a: v for a, v in enumerate(analysis.values) if not math.isnan(v)}
        assert found == pytest.approx(expected, abs=1e-12)
        assert analysis.depth == depth or analysis.is_exact
        if is_known(game, state, analysis.depth):
            assert analysis.is_exact


@pytest.mark.parametrize(("name", "plies", "depth"), CASES)
def test_chosen_move_is_one_of_the_best(random_positions, name, plies, depth):
    game = make_game(name)
    agent = AlphaBeta(game, depth=depth)
    states = random_positions(game, 4, plies, seed=1)
    for state, action in zip(states, agent.choose(states, seed=0), strict=True):
        values = minimax_values(game, state, agent.analyse(state).depth, DECAY)
        assert values[action] == pytest.approx(max(values.values()), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "moves", "best"),
    [
        ("tic-tac-toe", "a1 b1 a2 b2", "a3"),  # wins in one
        ("tic-tac-toe", "a1 b1 c3 b2", "b3"),  # blocks a loss in one
        ("connect-four", "1 7 1 7 1 7", "1"),
        ("connect-four", "4 4 5 5 6 3", "7"),
        ("connect-four", "1 4 1 4 2 4", "4"),
        ("trio", "a1 d4 d1 b1 d3 a4", "c1"),
    ],
)
@pytest.mark.parametrize("depth", [2, 5])
def test_win_in_one_is_taken_and_loss_in_one_is_blocked(name, moves, best, depth):
    game = make_game(name)
    state = game.new_state()
    for move in moves.split():
        game.apply(state, game.parse_action(move))
    for seed in range(5):
        (action,) = AlphaBeta(game, depth=depth).choose([state], seed)
        assert game.action_name(action) == best


def test_quick_win_is_better_than_a_late_one():
    game = make_game("connect-four")
    state = game.new_state()
    for move in "4 4 5 5 6".split():  # 3 and 7 both win next
        game.apply(state, game.parse_action(move))
    game.apply(state, game.parse_action("1"))
    values = AlphaBeta(game, depth=5).analyse(state).values
    assert values[2] == values[6] == DECAY
    assert max(values[[0, 1, 3, 4, 5]]) <= DECAY**3


def test_is_exact_only_if_every_line_was_searched_to_its_end():
    game = make_game("tic-tac-toe")
    state = game.new_state()
    for move in "a1 b2 c3".split():
        game.apply(state, game.parse_action(move))
    assert not AlphaBeta(game, depth=3).analyse(state).is_exact
    assert AlphaBeta(game, depth=6).analyse(state).is_exact
    assert AlphaBeta(game, depth=9).analyse(state).depth <= 6


def test_equal_moves_are_chosen_by_the_seed():
    game = make_game("tic-tac-toe")
    agent = AlphaBeta(game, depth=2)
    chosen = [tuple(agent.choose([game.new_state()] * 3, seed)) for seed in range(20)]
    assert chosen == [tuple(agent.choose([game.new_state()] * 3, seed)) for seed in range(20)]
    assert len({action for actions in chosen for action in actions}) > 5


class FakeClock:
    """A clock that advances by 1/64 second each time it is read."""

    now = 0.0

    def perf_counter(self):
        self.now += 1 / 64
        return self.now


def test_time_limit_ends_the_search_within_an_iteration(monkeypatch):
    game, clock = make_game("connect-four"), FakeClock()
    monkeypatch.setattr("plainzero.opponents.alpha_beta.time", clock)
    monkeypatch.setattr("plainzero.opponents.alpha_beta._STEPS_PER_CALL", 1000)
    analysis = AlphaBeta(game, depth=42, seconds=0.5).analyse(game.new_state())
    assert clock.now == 34 / 64  # the first reading is 1 / 64, the last one is beyond the limit
    assert 4 <= analysis.depth < 42
    assert not analysis.is_exact
    assert not np.isnan(analysis.values).any()


def test_padding_bytes_and_the_tag_do_not_change_a_hash():
    from plainzero.opponents.transposition_table import word_masks

    game = make_game("trio(size=3)")  # 9 cells, followed by padding
    masks = word_masks(game).view(np.uint8)
    fields = game.dtype.fields
    named = sum(fields[name][0].itemsize for name in game.dtype.names[:-1])
    assert (masks == 255).sum() == named < game.dtype.itemsize
    assert masks[fields[game.dtype.names[-1]][1]] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth must be 1"),
        ({"seconds": -1.0}, "seconds must be 0"),
        ({"seconds": math.nan}, "seconds must be 0"),
        ({"table_bytes": -1}, "table_bytes must be 0"),
    ],
)
def test_limits_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        AlphaBeta(make_game("tic-tac-toe"), **options)


def test_positions_without_a_choice_are_refused():
    game = make_game("2048")
    agent = AlphaBeta(game, depth=1)
    with pytest.raises(ValueError, match="chance is to move"):
        agent.choose([game.new_state()], seed=0)
    with pytest.raises(ValueError, match="not one of 2048"):
        agent.choose([make_game("tic-tac-toe").new_state()], seed=0)
