"""Hex: chains drawn by hand, swapping, full boards, and OpenSpiel's rules as the second opinion."""

import re
from pathlib import Path

import numba
import numpy as np
import pytest
from random_games import record_games

from plainzero.games import make_game
from plainzero.games.bundled.hex import Hex, winning_chain
from plainzero.games.check.taken_cells import winning_cells
from plainzero.games.contract import IllegalMove
from plainzero.games.position_setup import set_up_position
from plainzero.games.registry import UnknownGame

PLAYTHROUGH = Path(__file__).parents[4] / "shared" / "data" / "openspiel_playthroughs/hex_5x5.txt"
GAMES = 20 if numba.config.DISABLE_JIT else 1000
SAME_GAMES = [
    ("hex(size=5)", "hex(board_size=5)"),
    ("hex(size=4,swap=True)", "hex(board_size=4,swap=True)"),
]
MORE_SAME_GAMES = [
    ("hex(size=2,swap=True)", "hex(board_size=2,swap=True)"),
    ("hex", "hex"),
    ("hex(size=15,swap=True)", "hex(board_size=15,swap=True)"),
]


def drawn(game, text, to_play=0):
    """The position of a board written row by row, rows parted by spaces."""
    return set_up_position(game, [list(row) for row in text.split()], to_play)


def played(game, names):
    state = game.new_state()
    for name in names.split():
        game.apply(state, game.parse_action(name))
    return state


@pytest.mark.parametrize(
    ("board", "winner"),
    [
        ("x.. x.. x..", 0),
        ("..x .x. x..", 0),  # down and to the left is a neighbour
        ("x.. .x. ..x", None),  # down and to the right is not connected
        ("ooo ... ...", 1),
        ("..o .o. o..", 1),
        ("o.. .o. ..o", None),
        ("xxx ... ...", None),
        ("o.. o.. o..", None),
        ("x.. xx. .x.", 0),
        (".xo .oo xx.", None),
    ],
)
def test_chain_wins_only_between_its_own_edges(board, winner):
    state = drawn(Hex(size=3), board)
    assert bool(state.is_over) == (winner is not None)
    expected = [0.0, 0.0] if winner is None else [1.0 - 2 * winner, 2 * winner - 1.0]
    assert state.returns.tolist() == expected


def test_every_cell_has_six_neighbours():
    game = Hex(size=7)
    places = {tuple(game.place(24) + step for step in game.steps)}
    assert places == {tuple(game.place(24 + step) for step in (-1, 1, -7, -6, 7, 6))}


def test_last_stone_that_joins_two_loose_chains_wins():
    game = Hex(size=5)
    names = "a1 e1 a2 e2 a4 e3 a5 d4 a3"  # the gap at a3 is filled last
    state = played(game, names)
    assert (state.is_over, state.returns.tolist()) == (True, [1.0, -1.0])


def test_long_chain_learns_of_its_edge_late_and_still_wins():
    game = Hex(size=6)
    chain = "c2 c3 c4 c5 c6".split()  # joined to the bottom by its last stone, then to the top
    others = "a1 b1 d1 e1 f1".split()
    moves = [name for pair in zip(chain, others, strict=True) for name in pair]
    state = played(game, " ".join(moves))
    assert not state.is_over
    game.apply(state, game.parse_action("c1"))
    assert state.returns.tolist() == [1.0, -1.0]


def test_same_stones_are_the_same_record_in_any_order():
    game = Hex(size=4)
    rng = np.random.default_rng(5)
    own, other = ["a1", "b1", "c1", "d1"], ["a3", "b3", "c3", "a4"]
    records = set()
    for _ in range(20):
        rng.shuffle(own)
        rng.shuffle(other)
        moves = [name for pair in zip(own, other, strict=True) for name in pair]
        records.add(played(game, " ".join(moves)).tobytes())
    assert len(records) == 1


def test_every_full_board_has_exactly_one_winner():
    rng = np.random.default_rng(11)
    for size in (2, 3, 5, 8):
        game = Hex(size=size)
        for _ in range(40):
            cells = rng.choice(["x", "o"], (size, size), p=[0.5, 0.5]).tolist()
            state = set_up_position(game, cells, to_play=0)
            chains = [winning_chain(cells, stone) for stone in "xo"]
            assert [bool(chain) for chain in chains].count(True) == 1
            assert state.is_over
            assert state.returns[0] == (1.0 if chains[0] else -1.0)


def test_marks_are_a_shortest_chain_that_has_won():
    state = drawn(Hex(size=4), "xxx. o.x. .oxo .x..")
    assert state.is_over
    assert Hex(size=4).view(state).marks == [(0, 2), (1, 2), (2, 2), (3, 1)]
    assert Hex(size=4).view(Hex(size=4).new_state()).marks == []


def test_swap_gives_the_stone_mirrored_to_the_second_player():
    game = Hex(size=4, swap=True)
    state = played(game, "b1 swap")
    assert game.view(state).cells == [list("...."), list("o..."), list("...."), list("....")]
    assert (state.to_play, state.turn, state.num_empty) == (0, 2, 15)
    assert game.legal(state) == [action for action in range(16) if action != 4]


def test_swap_is_offered_once_and_to_the_second_player():
    game = Hex(size=3, swap=True)
    assert "swap" not in [game.action_name(action) for action in game.legal(game.new_state())]
    assert game.action_name(game.legal(played(game, "a1"))[-1]) == "swap"
    for names in ("a1 b1", "a1 swap", "a1 swap b1"):
        assert max(game.legal(played(game, names))) < 9
    with pytest.raises(IllegalMove, match="swap is not legal here"):
        played(game, "a1 b2 swap")


def test_without_the_option_there_is_no_swap():
    with pytest.raises(IllegalMove, match="no move 'swap'"):
        Hex(size=3).parse_action("swap")


@pytest.mark.parametrize(
    ("board", "to_play", "turn", "offers_swap"),
    [
        (".x. ... ...", 1, 1, True),
        (".x. ... ...", 0, 1, False),
        (".o. ... ...", 1, 1, False),
        (".o. ... ...", 0, 2, False),  # only a swap leads to this
        (".o. .x. ...", 1, 3, False),
        (".o. .x. ...", 0, 2, False),
    ],
)
def test_position_made_by_hand_knows_whether_there_was_a_swap(board, to_play, turn, offers_swap):
    game = Hex(size=3, swap=True)
    state = drawn(game, board, to_play)
    assert state.turn == turn
    assert (9 in game.legal(state)) == offers_swap


def test_half_a_turn_maps_corners_and_keeps_the_swap():
    (turned,) = Hex(size=3, swap=True).symmetries()
    assert turned.actions == [8, 7, 6, 5, 4, 3, 2, 1, 0, 9]


def test_planes_tell_the_mover_which_edges_are_his():
    game = Hex(size=3)
    state = played(game, "b1")
    planes = game.observation(state)
    assert planes[0].sum() == 0
    assert planes[1].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert planes[2].min() == 1
    game.apply(state, game.parse_action("c3"))
    planes = game.observation(state)
    assert planes[0, 0, 1] == planes[1, 2, 2] == 1
    assert planes[2].max() == 0


def test_names_are_column_and_row_in_large_or_small_letters():
    game = Hex(size=11)
    assert game.action_name(game.parse_action("K3")) == "k3"
    assert game.parse_action("b11") == 111


def test_text_is_a_lozenge():
    game = Hex(size=3)
    assert game.text(played(game, "b1 c3")).split("\n") == [
        "   a b c",
        " 1 . x .",
        "  2 . . .",
        "   3 . . o",
    ]


def test_swapping_is_asked_for_in_small_or_capital_letters():
    assert make_game("hex(swap=true)") == make_game("hex(swap=True)") == Hex(swap=True)


@pytest.mark.parametrize("name", ["hex(size=1)", "hex(size=27)", "hex(size=2.5)", "hex(swap=1)"])
def test_wrong_parameters_are_refused(name):
    with pytest.raises(UnknownGame, match=r"size must be|swap must be"):
        make_game(name)


@pytest.mark.parametrize(("ours", "theirs"), SAME_GAMES)
def test_compiled_random_games_agree_with_openspiel(ours, theirs):
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    recorded = record_games(make_game(ours), GAMES, seed=1)
    reference = pyspiel.load_game(theirs)
    for game in range(GAMES):
        state = reference.new_initial_state()
        for ply in range(recorded.lengths[game]):
            assert not state.is_terminal()
            assert state.current_player() == recorded.players[game, ply]
            assert state.legal_actions() == np.flatnonzero(recorded.legal_masks[game, ply]).tolist()
            state.apply_action(int(recorded.actions[game, ply]))
        assert state.is_terminal()
        assert state.returns() == recorded.returns[game].tolist()


@pytest.mark.parametrize(("ours", "theirs"), [*SAME_GAMES, *MORE_SAME_GAMES])
def test_uncompiled_random_games_agree_with_openspiel(ours, theirs):
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game, reference = make_game(ours), pyspiel.load_game(theirs)
    assert game.num_actions == reference.num_distinct_actions()
    rng = np.random.default_rng(2)
    for _ in range(1 + 60 // game.size):
        state, expected = game.new_state(), reference.new_initial_state()
        while not expected.is_terminal():
            assert not state.is_over
            assert state.to_play == expected.current_player()
            assert game.legal(state) == expected.legal_actions()
            action = int(rng.choice(expected.legal_actions()))
            assert game.action_name(action) == expected.action_to_string(state.to_play, action)
            game.apply(state, action)
            expected.apply_action(action)
            rows = [row.split() for row in str(expected).split("\n")]
            assert [[cell.lower() for cell in row] for row in rows] == game.view(state).cells
        assert state.is_over
        assert state.returns.tolist() == expected.returns()


def test_openspiel_playthrough_is_replayed_exactly():
    if not PLAYTHROUGH.exists():
        pytest.skip("the recorded OpenSpiel playthroughs are not part of a checkout")
    game = Hex(size=5)
    state = game.new_state()
    for position in re.split(r"^# State \d+$", PLAYTHROUGH.read_text(), flags=re.MULTILINE)[1:]:
        board = re.findall(r"^# ([ .xo]+)$", position, flags=re.MULTILINE)
        legal = re.search(r"^LegalActions\(\) = (\[.*\])$", position, flags=re.MULTILINE)
        returns = re.search(r"^Returns\(\) = \[(.*)\]$", position, flags=re.MULTILINE)
        if board:
            assert [row.split() for row in board] == game.view(state).cells
        if legal:
            assert str(game.legal(state)) == legal[1]
        if returns:
            assert state.returns.tolist() == [float(value) for value in returns[1].split(",")]
        for action in re.findall(r"^action: (\d+)$", position, flags=re.MULTILINE):
            game.apply(state, int(action))
    assert state.is_over


def test_a_win_rests_on_the_chain_that_is_marked():
    game = Hex(size=5)
    generator = np.random.default_rng(5)
    for _ in range(200):
        state = game.new_state()
        while not state.is_over:
            game.apply(state, int(generator.choice(game.legal(state))))
        cells = winning_cells(game, state)
        winner = int(state.returns[1] > 0.0)
        assert {game.holder(state, cell) for cell in cells} == {winner}
        alone = np.where(np.isin(np.arange(25), cells), "xo"[winner], "xo"[1 - winner])
        assert len(winning_chain(alone.reshape(5, 5).tolist(), "xo"[winner])) == len(cells)
        assert len(cells) == len(game.view(state).marks)
