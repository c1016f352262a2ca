"""Sets of solved positions: their files, how they are made, and the bundled set."""

import random
from pathlib import Path

import numpy as np
import pytest

from plainzero import make_game
from plainzero.games.bundled.othello import Othello
from plainzero.opponents.connect_four.kernels import ILLEGAL
from plainzero.opponents.decisive_positions import PositionCollection, PositionMaker, is_decisive
from plainzero.opponents.perfect import move_outcomes
from plainzero.opponents.solved_positions import (
    HEADER,
    PositionError,
    bundled_positions,
    read_positions,
    write_positions,
)

pytestmark = pytest.mark.slow

CONNECT_FOUR = make_game("connect-four")
TIC_TAC_TOE = make_game("tic-tac-toe")
SMALL = make_game("connect-four(rows=4,cols=5)")
SETS = Path(__file__).parents[3] / "shared" / "data" / "connect4"


def make_maker(game, seed):
    return PositionMaker(game, lambda state: move_outcomes(game, [state])[0], seed)


def collect(game, count, seed, most_early=100):
    collection = PositionCollection(make_maker(game, seed), lambda total: None)
    collection.collect(count, most_early)
    return collection


def bytes_of(game, state):
    return b"".join(np.asarray(state[name]).tobytes() for name in game.dtype.names[:-1])


@pytest.mark.parametrize("game", [TIC_TAC_TOE, SMALL])
def test_made_positions_are_decisive_and_read_back_as_written(tmp_path, game):
    collection = collect(game, 40, seed=1)
    positions = collection.positions()
    assert len(positions) == 40 == sum(collection.by_ply)
    path = tmp_path / "set.csv"
    outcomes = np.array([position.outcomes for position in positions])
    write_positions(game, path, (position.actions for position in positions), outcomes)
    found = read_positions(game, path)
    assert np.array_equal(found.outcomes, outcomes)
    assert found.plies.tolist() == [len(position.actions) for position in positions]
    assert all(is_decisive(row) for row in found.outcomes)
    assert np.array_equal(move_outcomes(game, found.states), outcomes)


def test_no_two_made_positions_are_images_of_each_other():
    positions = collect(TIC_TAC_TOE, 80, seed=2).positions()
    names = set()
    for position in positions:
        images = set()
        for mapping in [range(9), *(symmetry.actions for symmetry in TIC_TAC_TOE.symmetries())]:
            state = TIC_TAC_TOE.new_state()
            for action in position.actions:
                TIC_TAC_TOE.apply(state, int(mapping[action]))
            images.add(bytes_of(TIC_TAC_TOE, state))
        assert not images & names
        names |= images


def test_rotations_that_change_the_initial_position_make_no_images():
    game = Othello(size=4)

    def judge(state):  # only the first legal move is good
        legal = game.legal(state)
        outcomes = np.full(game.num_actions, ILLEGAL, np.int8)
        outcomes[legal] = [1, *[-1] * (len(legal) - 1)]
        return outcomes

    maker = PositionMaker(game, judge, seed=1)
    assert maker.find(1) is not None  # all four first moves are images of each other
    assert maker.find(1) is None


def test_plies_are_covered_evenly_and_early_ones_up_to_their_limit():
    by_ply = collect(SMALL, 60, seed=3, most_early=2).by_ply  # 20 plies, five of them early
    assert by_ply[3] == by_ply[4] == 2  # although there are more
    assert by_ply[19] == 0  # only one move is left
    assert max(by_ply[5:15]) - min(by_ply[5:15]) <= 1 < min(by_ply[5:15])
    assert sum(by_ply) == 60


def test_positions_of_one_ply_do_not_depend_on_the_others():
    both, alone = make_maker(TIC_TAC_TOE, 6), make_maker(TIC_TAC_TOE, 6)
    assert both.find(4) is not None
    assert both.find(5).actions == alone.find(5).actions


def test_same_seed_makes_the_same_set():
    def actions_found(seed):
        maker = make_maker(TIC_TAC_TOE, seed)
        return [maker.find(ply).actions for ply in (3, 4, 5, 6) * 3]

    assert actions_found(4) == actions_found(4)
    assert actions_found(4) != actions_found(5)


@pytest.mark.skipif(not SETS.is_dir(), reason="needs the outside position sets in ../shared/data")
def test_files_with_scores_are_read_and_their_outcomes_computed(tmp_path):
    lines = (SETS / "Test_L3_R1").read_text().splitlines()[:50]
    (tmp_path / "scores").write_text("\n".join(lines))
    calls = []
    found = read_positions(CONNECT_FOUR, tmp_path / "scores", lambda *done: calls.append(done))
    assert calls[-1] == (50, 50)
    assert found.plies.tolist() == [len(line.split()[0]) for line in lines]
    signs = [np.sign(int(line.split()[1])) for line in lines]
    assert found.outcomes.max(axis=1).tolist() == signs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no positions"),
        (f"{HEADER}\n1 2,WWW", "line 2: 'WWW' must be 7 letters"),
        (f"{HEADER}\n1 2,WWWWWWX", "line 2: 'WWWWWWX' must be 7 letters"),
        (f"{HEADER}\n1 2", "line 2: '1 2' is not of the form moves,values"),
        (f"{HEADER}\n1 2,DDDDDDD\n\n1 9,DDDDDDD", "line 4: connect-four has no move '9'"),
        (f"{HEADER}\n1 1 1 1 1 1 1,DDDDDDD", "line 2: 1 is not legal here"),
        (f"{HEADER}\n1 1 1 1 1 1,DDDDDDD", "line 2: 1 has 'D', but it is not legal"),
        (f"{HEADER}\n1,-DDDDDD", "line 2: 1 has '-', but it is legal"),
        (f"{HEADER}\n1 2 1 2 1 2 1,DDDDDDD", "line 2: the game is over after 1 2 1 2 1 2 1"),
        ("4453", "line 1: '4453' cannot be read; .* begins with the line moves,values or columns"),
        ("44 0\n45x 0", "line 2: '45x 0' cannot be read"),
        (
            "2252576253462244111563365343671351441 1",
            "line 1: the score of .* is wrong; the position's outcome is L",
        ),
    ],
)
def test_wrong_lines_are_named(tmp_path, text, message):
    path = tmp_path / "set.csv"
    path.write_text(text)
    with pytest.raises(PositionError, match=message):
        read_positions(CONNECT_FOUR, path)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(PositionError, match=r"missing\.csv cannot be read"):
        read_positions(CONNECT_FOUR, tmp_path / "missing.csv")
    (tmp_path / "scores").write_text("11 0")
    with pytest.raises(PositionError, match="begins with the line moves,values"):
        read_positions(TIC_TAC_TOE, tmp_path / "scores")


def test_only_the_standard_board_has_a_bundled_set():
    assert bundled_positions(TIC_TAC_TOE) is None
    assert bundled_positions(make_game("connect-four(rows=5)")) is None


@pytest.fixture(scope="module")
def bundled():
    return read_positions(CONNECT_FOUR, bundled_positions(CONNECT_FOUR))


def test_bundled_set_is_large_decisive_and_covers_plies_evenly(bundled):
    assert len(bundled.states) >= 6000
    assert all(is_decisive(row) for row in bundled.outcomes)
    assert set(bundled.plies.tolist()) == set(range(3, 41))  # earlier ones take minutes each
    per_ply = np.bincount(bundled.plies)
    assert per_ply[10:39].min() >= 100


def test_bundled_positions_differ_from_each_other_and_from_mirror_images(bundled):
    names = set()
    for stones in bundled.states["stones"]:
        images = {tuple(stones.tolist()), tuple(mirror(int(bits)) for bits in stones)}
        assert not images & names
        names |= images


def mirror(bits):
    return sum(((bits >> 7 * col) & 127) << 7 * (6 - col) for col in range(7))


def test_a_sample_of_the_bundled_set_is_solved_again(bundled):
    cheap = np.flatnonzero(bundled.plies >= 14)
    sample = random.Random(0).sample(cheap.tolist(), 300)
    solved = move_outcomes(CONNECT_FOUR, bundled.states[sample])
    assert np.array_equal(solved, bundled.outcomes[sample])
    assert (solved != ILLEGAL).any(axis=1).all()


ENDGAMES = Path(__file__).parents[3] / "shared" / "data" / "othello" / "fforum-1-19.obf"
ENDGAME = "-OX" + "X" * 61 + " X; A1:+64;\n"


def test_an_endgame_has_its_squares_mover_and_scores(tmp_path):
    path = tmp_path / "one.obf"
    path.write_text(ENDGAME)
    othello = make_game("othello")
    known = read_positions(othello, path)
    (state,) = known.states
    assert (othello.legal(state), int(state.to_play), known.plies.tolist()) == ([0], 0, [59])
    assert othello.view(state).cells[0][:3] == [".", "o", "x"]
    assert known.scores[0, 0] == 64 and known.outcomes[0, 0] == 1
    assert (known.outcomes[0, 1:] == ILLEGAL).all()


@pytest.mark.parametrize(
    ("game", "text", "words"),
    [
        ("othello(size=6)", ENDGAME, "has positions of othello on 8x8, not of othello"),
        ("othello", ENDGAME[1:], "line 1: 64 squares"),
        ("othello", ENDGAME.replace("A1:+64;", ""), "line 1: each legal move needs a score"),
        ("othello", ENDGAME.replace("A1", "B1"), "line 1: each legal move needs a score"),
        ("othello", ENDGAME.replace("A1", "K1"), "line 1: "),
    ],
)
def test_an_invalid_endgame_is_refused(tmp_path, game, text, words):
    path = tmp_path / "one.obf"
    path.write_text(text)
    with pytest.raises(PositionError, match=words):
        read_positions(make_game(game), path)


@pytest.mark.skipif(not ENDGAMES.exists(), reason="the FFO problems are not part of a checkout")
def test_the_ffo_problems_have_a_score_for_every_legal_move():
    known = read_positions(make_game("othello"), ENDGAMES)
    assert (len(known.states), int((known.outcomes >= -1).sum())) == (19, 145)
    assert (
        read_positions(make_game("othello"), ENDGAMES.with_name("fforum-20-39.obf")).scores.max()
        > 0
    )
