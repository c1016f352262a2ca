"""Our rules against OpenSpiel's: every legal move, player and return of thousands of games."""

import re
from pathlib import Path

import numba
import numpy as np
import pytest
from random_games import record_games

from plainzero.games import make_game

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

PLAYTHROUGHS = Path(__file__).parents[4] / "shared" / "data" / "openspiel_playthroughs"

GAMES = 20 if numba.config.DISABLE_JIT else 2000
SAME_GAMES = [
    ("tic-tac-toe", "tic_tac_toe"),
    ("connect-four", "connect_four"),
    ("connect-four(rows=5,cols=4)", "connect_four(rows=5,columns=4)"),
    ("connect-four(rows=4,cols=6,in_a_row=3)", "connect_four(rows=4,columns=6,x_in_row=3)"),
    ("dots-and-boxes", "dots_and_boxes(num_rows=2,num_cols=2)"),
    ("dots-and-boxes(rows=1,cols=1)", "dots_and_boxes(num_rows=1,num_cols=1)"),
    ("dots-and-boxes(rows=2,cols=3)", "dots_and_boxes(num_rows=2,num_cols=3)"),
    ("dots-and-boxes(rows=4,cols=3)", "dots_and_boxes(num_rows=4,num_cols=3)"),
    ("othello", "othello"),
]


@pytest.mark.parametrize(("ours", "theirs"), SAME_GAMES)
def test_compiled_random_games_agree_with_openspiel(ours: str, theirs: str) -> None:
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


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [*SAME_GAMES, ("dots-and-boxes(rows=7,cols=8)", "dots_and_boxes(num_rows=7,num_cols=8)")],
)
def test_uncompiled_random_games_agree_with_openspiel(ours: str, theirs: str) -> None:
    game, reference = make_game(ours), pyspiel.load_game(theirs)
    assert game.num_actions == reference.num_distinct_actions()
    rng = np.random.default_rng(2)
    for _ in range(24):
        state, expected = game.new_state(), reference.new_initial_state()
        while not expected.is_terminal():
            assert not state.is_over
            assert state.to_play == expected.current_player()
            assert sorted(game.legal(state)) == expected.legal_actions()
            action = int(rng.choice(expected.legal_actions()))
            game.apply(state, action)
            expected.apply_action(action)
        assert state.is_over
        assert state.returns.tolist() == expected.returns()


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four"])
def test_openspiel_playthrough_is_replayed_exactly(name: str) -> None:
    path = PLAYTHROUGHS / f"{name}.txt"
    if not path.exists():
        pytest.skip("the recorded OpenSpiel playthroughs are not part of a checkout")
    game = make_game(name.replace("_", "-"))
    state = game.new_state()
    positions = re.split(r"^# State \d+$", path.read_text(), flags=re.MULTILINE)[1:]
    for position in positions:
        board = re.findall(r"^# ([.xo]+)$", position, flags=re.MULTILINE)
        legal = re.search(r"^LegalActions\(\) = (\[.*\])$", position, flags=re.MULTILINE)
        returns = re.search(r"^Returns\(\) = \[(.*)\]$", position, flags=re.MULTILINE)
        if board:
            assert game.text(state).replace(" ", "").split("\n") == board
        if legal:
            assert str(game.legal(state)) == legal[1]
        if returns:
            assert state.returns.tolist() == [float(value) for value in returns[1].split(",")]
        for action in re.findall(r"^action: (\d+)$", position, flags=re.MULTILINE):
            game.apply(state, int(action))
    assert state.is_over
