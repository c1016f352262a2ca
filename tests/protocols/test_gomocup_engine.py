"""Gomocup engines as agents: they follow games, and lose those in which they fail."""

import shlex
import sys
from pathlib import Path

import pytest

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.match import MatchSettings, play_match
from plainzero.arena.match_files import save_transcripts
from plainzero.arena.openings import Opening
from plainzero.opponents.agent import Forfeit, GameHistory
from plainzero.protocols.engine_agent import EngineLimits
from plainzero.protocols.gomocup.engine import find_rule, name_point, parse_point

GAME = make_game("gomoku(size=5)")
PROGRAM = Path(__file__).parent / "fake_gomocup.py"
WAITED_FOR = ("falls silent", "babbles", "answers nonsense")  # until the time limit


def command(fault="", file=""):
    return shlex.join([sys.executable, "-S", "-E", str(PROGRAM), fault, str(file)])


def fake(fault="", file="", limits="engines=1", game=GAME):
    return parse_agent(f"gomocup[{limits}]:{command(fault, file)}", game)


def played(*points, number=0):
    state, moves, movers = GAME.new_state(), [], []
    for point in points:
        moves.append(parse_point(GAME, point))
        movers.append(int(state.to_play))
        GAME.apply(state, moves[-1])
    return GameHistory(number, moves, movers, state)


def answers(engine, *games):
    decisions = engine.choose_with_history(games, 0)
    return [d if isinstance(d, Forfeit) else name_point(GAME, d) for d in decisions]


def play(engine, openings=1):
    opening = Opening((), GAME.new_state())
    plan = MatchSettings(openings=(opening,) * openings)
    result = play_match(GAME, (engine, parse_agent("random", GAME)), plan)
    engine.close()
    return result


def said(file):
    return file.read_text().splitlines()


@pytest.mark.parametrize("fault", ["", "writes notes", "suggests", "writes spaces", "speaks first"])
def test_an_engine_plays_whole_games(fault):
    result = play(fake(fault, limits="engines=2"))
    assert result.tally.games == 2 and result.faults == ([], [])
    for record in result.records:
        state = GAME.new_state()
        for action in record.moves:
            GAME.apply(state, action)
        assert state.is_over


def test_points_are_counted_from_the_top_left():
    assert parse_point(GAME, "4,0") == GAME.parse_action("e5")
    assert parse_point(GAME, " 0 , 4 ") == GAME.parse_action("a1")
    assert name_point(GAME, GAME.parse_action("b5")) == "1,0"
    for text in ("5,0", "0,5", "-1,0", "1", "1,1,1", "a,b", ""):
        assert parse_point(GAME, text) is None


def test_an_engine_receives_the_board_the_rule_and_its_limits(tmp_path):
    game = make_game("gomoku(size=7,rule=renju)")
    fake("", tmp_path / "log", "engines=1,seconds=2.5,memory_mb=350", game).close()
    assert said(tmp_path / "log") == [
        *("START 7", "INFO game_type 1", "INFO rule 4", "INFO timeout_turn 2500"),
        *("INFO timeout_match 0", "INFO time_left 2147483647", f"INFO max_memory {350 << 20}"),
        "END",
    ]


def test_a_game_is_followed_by_its_moves(tmp_path):
    engine = fake("", tmp_path / "log")
    assert answers(engine, played()) == ["0,0"]
    assert answers(engine, played("0,0", "1,1")) == ["1,0"]
    assert said(tmp_path / "log")[3:] == ["BEGIN", "TURN 1,1"]


def test_an_opening_or_another_game_is_set_up_with_board(tmp_path):
    engine = fake("", tmp_path / "log")
    assert answers(engine, played("2,2", "3,3")) == ["0,0"]
    assert answers(engine, played("0,0")) == ["1,0"]
    assert said(tmp_path / "log")[3:] == [
        *("BOARD", "2,2,1", "3,3,2"),
        *("RESTART", "BOARD", "0,0,2"),
    ]


def test_an_engine_without_restart_is_started_again(tmp_path):
    engine = fake("cannot restart", tmp_path / "log")
    assert answers(engine, played(), played(number=1)) == ["0,0", "0,0"]
    assert said(tmp_path / "log")[3:] == ["BEGIN", "RESTART", "START 5", "BEGIN"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("crashes", "ended with exit code 3"),
        ("is killed", "was killed by signal 11"),
        ("falls silent", "no answer to 'TURN"),
        ("babbles", "no answer to 'TURN"),
        ("answers nonsense", "its last line was 'z99 of course'"),
        ("plays an illegal move", "played 0,0, which is not legal"),
        ("leaves the board", "played 77,0, which is not legal"),
        ("refuses", "refused 'TURN 1,1': ERROR bad coordinates"),
        ("does not understand", "refused 'TURN 1,1': UNKNOWN"),
    ],
)
def test_a_faulty_engine_loses_the_game_and_is_named(fault, words, monkeypatch):
    engine = fake(fault)
    assert answers(engine, played()) == ["0,0"]
    with monkeypatch.context() as patches:
        if fault in WAITED_FOR:
            patches.setattr(EngineLimits, "longest", 0.3)
        (forfeit,) = answers(engine, played("0,0", "1,1"))
    assert words in forfeit.fault and forfeit.fault.startswith("python")
    assert "> TURN 1,1" in forfeit.transcript
    assert answers(engine, played("0,0", "1,1", number=1)) == ["1,0"]  # it was restarted
    engine.close()


def test_a_match_counts_faults_and_saves_transcripts(tmp_path):
    result = play(fake("crashes"))
    assert result.as_dict()["lost_by_fault"] == [2, 0] and result.tally.losses == 2
    kept = save_transcripts([result], tmp_path / "games.jsonl")
    assert kept.read_text().count("! bug: index out of range") == 2


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (f"gomocup:{command('dies at once')}", "ended with exit code 127"),
        (f"gomocup[startup=0.2]:{command('never reads')}", "no answer to 'START 5' in 0.2 s"),
        (f"gomocup:{command('takes no board')}", "refused 'START 5': ERROR this board is too"),
        ("gomocup:no-such-program", "there is no program 'no-such-program'"),
        ("gomocup:", "gomocup needs a command"),
        ("gomocup[memory=1]:x", "did you mean memory_mb"),
        ("gomocup[memory_mb=-1]:x", "cannot be negative"),
        ("gtp[memory_mb=350]:gnugo", "unknown option 'memory_mb'"),
    ],
)
def test_an_engine_that_cannot_play_is_refused_before_the_match(spec, words):
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        parse_agent(spec, GAME)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("gomoku-42", "neither captures nor forbidden double-threes"),
        ("gomoku(captures=3)", "neither captures"),
        ("gomoku(double_three=forbidden)", "neither captures"),
        ("tic-tac-toe", "is for gomoku only"),
    ],
)
def test_other_games_are_refused(game, words):
    with pytest.raises(ValueError, match=words):
        parse_agent(f"gomocup:{command()}", make_game(game))


def test_rules_have_the_protocols_numbers():
    games = [make_game(f"gomoku(rule={rule})") for rule in ("freestyle", "standard", "renju")]
    assert [find_rule(game) for game in games] == [0, 1, 4]


def test_our_own_program_is_an_engine_like_others():
    game = make_game("gomoku(size=6,rule=renju)")
    ours = shlex.join([sys.executable, *"-m plainzero.cli gomocup --agent random".split()])
    engine = parse_agent(f"gomocup[engines=1,seconds=300,startup=500]:{ours}", game)
    opening = Opening((), game.new_state())
    plan = MatchSettings(openings=(opening, opening))
    result = play_match(game, (engine, parse_agent("random", game)), plan)
    engine.close()
    assert result.tally.games == 4 and result.faults == ([], [])
