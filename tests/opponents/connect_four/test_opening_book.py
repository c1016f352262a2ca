"""The opening book of Connect Four, compared with the rules and the solver."""

import numpy as np
import pytest

from plainzero import make_game
from plainzero.opponents.agent import Stopped
from plainzero.opponents.connect_four.bitboard import playable_cells, winning_cells
from plainzero.opponents.connect_four.opening_book import (
    BOOK_GAME,
    BOOK_PLIES,
    NOT_FOUND,
    load_opening_book,
    mirror,
    play_column,
)
from plainzero.opponents.connect_four.solver import ConnectFourSolver
from plainzero.opponents.perfect import PerfectAgent, move_outcomes, outcomes_by
from plainzero.opponents.solved_positions import bundled_positions, read_positions

BOOK = load_opening_book()


def opening(ply, row):
    """The state of a position in the book."""
    own, occupied = BOOK.openings[ply].own[row], BOOK.openings[ply].occupied[row]
    return position(ply % 2, own, own ^ occupied)


def position(to_play, own, other):
    state = BOOK_GAME.new_state()
    state.turn = int(np.bitwise_count(np.uint64(own | other)))
    state.to_play = to_play
    state.stones[to_play], state.stones[1 - to_play] = own, other
    return state


def test_only_the_middle_wins_as_a_first_move():
    assert move_outcomes(BOOK_GAME, [BOOK_GAME.new_state()]).tolist() == [[-1, -1, 0, 1, 0, -1, -1]]
    assert PerfectAgent(BOOK_GAME).choose([BOOK_GAME.new_state()], seed=1) == [3]


def test_all_reachable_positions_are_listed():
    states = [BOOK_GAME.new_state()]
    for ply in range(6):
        found = {stones_of(state) for state in states}
        own, occupied = BOOK.openings[ply].own, BOOK.openings[ply].occupied
        listed = set(zip(own.tolist(), occupied.tolist(), strict=True))
        images = mirror(BOOK.board, own).tolist(), mirror(BOOK.board, occupied).tolist()
        assert len(listed) == len(own)
        assert listed | set(zip(*images, strict=True)) == found
        states = followers(states)


def stones_of(state):
    return int(state.stones[state.to_play]), int(state.stones[0] | state.stones[1])


def followers(states):
    """The different states after one move; no game is over after so few plies."""
    found = {}
    for state in states:
        for action in BOOK_GAME.legal(state):
            after = BOOK_GAME.copy(state)
            BOOK_GAME.apply(after, action)
            found[stones_of(after)] = after
    return list(found.values())


@pytest.mark.parametrize("ply", range(BOOK_PLIES))
def test_each_outcome_is_that_of_the_best_move(ply):
    openings = BOOK.openings[ply]
    best = np.full(len(openings.keys), -1)
    for column in range(BOOK_GAME.cols):
        moves = play_column(BOOK.board, openings.own, openings.occupied, column)
        continues = moves.is_legal & ~moves.wins
        replies = BOOK.find(ply + 1, moves.own[continues], moves.occupied[continues])
        assert np.isin(replies, (-1, 0, 1)).all()
        best[continues] = np.maximum(best[continues], -replies)
        best[moves.wins] = 1
    assert np.array_equal(BOOK.outcomes[ply], best)


def test_the_solver_agrees_on_the_last_ply():
    openings = BOOK.openings[BOOK_PLIES]
    playable = playable_cells(BOOK.board, openings.occupied)
    wins = playable & winning_cells(BOOK.board, openings.own)
    threats = playable & winning_cells(BOOK.board, openings.own ^ openings.occupied)
    is_forced = (wins == 0) & (threats != 0)  # many of these take only a moment
    rows = np.random.default_rng(0).choice(np.flatnonzero(is_forced), 24, replace=False)
    solver, agreed = ConnectFourSolver(BOOK_GAME), []
    for row in rows:
        try:
            best = solver.outcomes([opening(BOOK_PLIES, row)], stop=stop_after(4))[0].max()
        except Stopped:
            continue
        assert best == BOOK.outcomes[BOOK_PLIES][row]
        agreed.append(best)
    assert len(agreed) >= 10 and {-1, 1} <= set(agreed)


def stop_after(count):
    """Returns False for the first `count` calls, then True; the solver calls it every few nodes."""
    calls = iter(range(count))
    return lambda: next(calls, None) is None


def test_positions_labelled_by_the_solver_alone_are_right(tmp_path):
    lines = bundled_positions(BOOK_GAME).read_text().splitlines()
    (tmp_path / "early.csv").write_text(
        "\n".join(lines[:73])
    )  # positions with few stones come first
    positions = read_positions(BOOK_GAME, tmp_path / "early.csv")
    assert positions.plies.max() == BOOK_PLIES - 1
    found = move_outcomes(BOOK_GAME, positions.states)
    assert np.array_equal(found, positions.outcomes)


@pytest.mark.parametrize("ply", range(BOOK_PLIES))
def test_mirror_images_have_mirrored_outcomes(ply):
    for row in np.random.default_rng(ply).integers(len(BOOK.outcomes[ply]), size=5):
        state = opening(ply, row)
        image = BOOK_GAME.copy(state)
        image.stones[:] = mirror(BOOK.board, state.stones)
        outcomes = move_outcomes(BOOK_GAME, [state, image])
        assert outcomes[0].max() == BOOK.outcomes[ply][row]
        assert np.array_equal(outcomes[0], outcomes[1][::-1])


def test_the_solver_is_not_used_before_the_last_ply():
    solver, reports = ConnectFourSolver(BOOK_GAME, 1 << 18), []
    states = [opening(ply, len(BOOK.outcomes[ply]) // 2) for ply in range(BOOK_PLIES)]
    outcomes_by(solver, states, lambda *report: reports.append(report))
    assert solver.nodes == 0
    assert reports == [(count, BOOK_PLIES) for count in range(1, BOOK_PLIES + 1)]
    with pytest.raises(Stopped):
        outcomes_by(solver, [opening(BOOK_PLIES, 0)], stop=stop_after(3))
    assert solver.nodes > 0


def test_a_stop_at_once_also_applies_to_the_book():
    with pytest.raises(Stopped):
        move_outcomes(BOOK_GAME, [BOOK_GAME.new_state()], stop=lambda: True)


def test_the_colours_do_not_matter_but_who_is_to_move_does():
    first = position(0, own=1 << 21, other=1 << 22)
    second = position(1, own=1 << 21, other=1 << 22)
    assert np.array_equal(*move_outcomes(BOOK_GAME, [first, second]))
    contrary = BOOK.move_outcomes(1 << 22, 3 << 21)
    assert not np.array_equal(contrary, BOOK.move_outcomes(1 << 21, 3 << 21))


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (0b1, 0),  # the same player moved again
        (0, 0b11),
        (0b10000001, 0),
        (0b1 | 0b1 << 7 | 0b1 << 14, 0b10),
        (0b10, 0b10000000),  # a stone in the air
        (0, 0b10),  # has the key of the other player's stone at the bottom
    ],
)
def test_unreachable_positions_are_not_in_the_book(own, other):
    assert BOOK.move_outcomes(own, own | other) is None
    stones = np.array([own], np.uint64), np.array([own | other], np.uint64)
    assert BOOK.find(stones[1][0].bit_count(), *stones).tolist() == [NOT_FOUND]


def test_positions_made_by_hand_are_solved_without_the_book():
    three, wall = 0b1 << 14 | 0b1 << 21 | 0b1 << 28, 0b1
    states = [position(to_play, three, wall) for to_play in (0, 1)]
    expected = ConnectFourSolver(BOOK_GAME).outcomes(states[:1])
    assert move_outcomes(BOOK_GAME, states).tolist() == 2 * expected.tolist()
    assert expected.max() == 1


def test_other_boards_are_solved_without_the_book():
    game = make_game("connect-four(rows=4,cols=5)")
    states = [game.new_state()]
    assert np.array_equal(move_outcomes(game, states), ConnectFourSolver(game).outcomes(states))
    tall = make_game("connect-four(rows=7,cols=6)")
    with pytest.raises(Stopped):  # the empty board would take minutes
        move_outcomes(tall, [tall.new_state()], stop=stop_after(3))
