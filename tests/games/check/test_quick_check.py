"""The quick check: a user's game is tried in plain Python before its compiled rules first run."""

import numpy as np
import pytest

from plainzero import RuleFault, SearchConfig, make_game, search
from plainzero.games import rules
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.check import quick_check
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.selfplay.worker import Worker


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(quick_check, "_passed", set())
    monkeypatch.setattr(rules, "_GAMES", {})
    return tmp_path / "cache"


class OneActionTooFew(TicTacToe):
    num_actions = 8


class WritesBehindTheBoard(TicTacToe):
    def play(self, state, action):
        if state.turn == 4:
            state.board[self.size, 0] = 1
        super().play(state, action)


class ObservesBehindThePlanes(TicTacToe):
    def observe(self, state, planes):
        planes[2, 0, 0] = 1.0


class Unseen(TicTacToe):
    """Searched by playouts alone, it needs no observation."""

    def observe(self, state, planes):
        pass


def uniform(planes):
    return np.zeros((len(planes), 9)), np.zeros(len(planes))


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (OneActionTooFew, "writes or counts more than num_actions = 8"),
        (WritesBehindTheBoard, "play raises IndexError at turn 4"),
        (ObservesBehindThePlanes, "observe raises IndexError"),
    ],
)
def test_a_game_that_breaks_its_contract_is_not_searched_or_played(cls, message):
    game = cls()
    with pytest.raises(RuleFault, match=f"breaks the game contract: .*{message}.*plainzero check"):
        search(game, game.new_state())
    with pytest.raises(RuleFault, match=message):
        Worker(game, uniform, SearchConfig(simulations=4), SelfPlayConfig(games=2), seed=0)


def test_a_version_that_passed_is_not_checked_again(monkeypatch, capsys):
    quick_check.ensure_checked(Unseen())
    assert capsys.readouterr().err.count("checked the rules of unseen for the first time") == 1
    monkeypatch.setattr(quick_check, "_passed", set())  # as in another process
    monkeypatch.setattr(quick_check, "_quick_check", lambda game: pytest.fail("checked again"))
    quick_check.ensure_checked(Unseen())
    assert capsys.readouterr().err == ""


def test_another_version_is_checked_again(tmp_path):
    source = "from plainzero.games.bundled.tic_tac_toe import TicTacToe\nclass Mine(TicTacToe):\n"
    for name, body in (("first", "    pass\n"), ("second", "    num_actions = 8\n")):
        (tmp_path / f"{name}.py").write_text(source + body)
    quick_check.ensure_checked(make_game(f"{tmp_path / 'first.py'}"))
    with pytest.raises(RuleFault, match="num_actions = 8"):
        quick_check.ensure_checked(make_game(f"{tmp_path / 'second.py'}"))


def test_bundled_games_need_no_check(monkeypatch):
    monkeypatch.setattr(quick_check, "_quick_check", lambda game: pytest.fail("checked"))
    for name in ("tic-tac-toe", "gomoku-42"):
        quick_check.ensure_checked(make_game(name))


def test_the_number_of_moves_is_bounded_for_a_game_that_takes_long():
    moves = []

    class Long(TicTacToe):
        size = 26

        def play(self, state, action):
            moves.append(action)
            super().play(state, action)

        def has_line(self, state, row, col):
            return False

    quick_check.ensure_checked(Long())
    assert len(moves) == 200


def test_a_cache_folder_that_cannot_be_written_is_no_obstacle(cache_folder):
    cache_folder.write_text("a file, not a folder")
    quick_check.ensure_checked(Unseen())


@pytest.mark.parametrize(
    "error", [PermissionError(13, "denied"), FileNotFoundError("no home folder")]
)
def test_a_cache_folder_that_cannot_be_read_is_no_obstacle(monkeypatch, error):
    def refuse(game):
        raise error

    monkeypatch.setattr(quick_check, "_marker", refuse)
    quick_check.ensure_checked(Unseen())
