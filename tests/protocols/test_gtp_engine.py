"""GTP engines as agents: they follow games, and lose those in which they fail."""

import collections
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.match import MatchSettings, play_match
from plainzero.arena.match_files import read_match_games, save_games, save_transcripts
from plainzero.arena.openings import Opening
from plainzero.opponents.agent import Forfeit, GameHistory
from plainzero.protocols.gtp.engine import make_gtp_agent

pytestmark = pytest.mark.slow

GAME = make_game("tic-tac-toe")
PROGRAM = Path(__file__).parent / "fake_engine.py"
PATIENCE = "plainzero.protocols.engine_process._PATIENCE"
WAITED_FOR = ("falls silent", "babbles")  # until the time limit


def command(fault="", file=""):
    return shlex.join([sys.executable, "-S", "-E", str(PROGRAM), fault, str(file)])


def fake(fault="", file="", limits="engines=1"):
    return parse_agent(f"gtp[{limits}]:{command(fault, file)}", GAME)


def played(*names, number=0):
    state, moves, movers = GAME.new_state(), [], []
    for name in names:
        moves.append(GAME.parse_action(name))
        movers.append(int(state.to_play))
        GAME.apply(state, moves[-1])
    return GameHistory(number, moves, movers, state)


def name_of(decision):
    return GAME.action_name(decision)


def play(engine, games=4):
    result = play_match(GAME, (engine, parse_agent("random", GAME)), MatchSettings(games))
    engine.close()
    return result


def test_an_engine_plays_whole_games():
    result = play(fake(limits="engines=2"), 8)
    assert result.tally.games == 8 and result.faults == ([], [])
    for record in result.records:
        state = GAME.new_state()
        for action in (*record.opening, *record.moves):
            GAME.apply(state, action)
        assert state.is_over


def test_parallel_games_equal_sequential_ones():
    results = [play(fake(limits=f"engines={count}"), 10) for count in (1, 3)]
    assert results[0].records == results[1].records


def test_an_engine_receives_every_move_of_its_opponent_and_of_the_opening(tmp_path):
    engine = fake("logs commands", tmp_path / "log")
    decisions = engine.choose_with_history([played("b2", "c3")], 0)
    assert [name_of(action) for action in decisions] == ["a1"]
    engine.choose_with_history([played("b2", "c3", "a1", "a3")], 0)
    assert (tmp_path / "log").read_text().splitlines()[1:] == [
        *("boardsize 3", "clear_board", "play black b2", "play white c3", "genmove black"),
        *("play white a3", "genmove black"),
    ]


def test_an_engine_goes_back_by_undo_or_starts_over_for_another_game(tmp_path):
    engine = fake("logs commands", tmp_path / "log")
    engine.choose_with_history([played("b2", "c3", "a2")], 0)
    engine.choose_with_history(
        [played("b2", "c3", "a3")], 0
    )  # two moves in common: undoes the other two
    engine.choose_with_history([played("c1")], 0)  # nothing in common
    assert (tmp_path / "log").read_text().splitlines()[7:] == [
        *("undo", "undo", "play black a3", "genmove white"),
        *("clear_board", "play black c1", "genmove white"),
    ]


def test_several_games_of_one_process_are_kept_apart():
    engine = fake()
    games = [played("a1", number=0), played("b2", number=1), played(number=2)]
    decisions = engine.choose_with_history(games, 0)
    assert [name_of(action) for action in decisions] == ["b1", "a1", "a1"]


def test_a_match_is_stopped_between_the_games_of_a_round(tmp_path):
    engine, log = fake("logs commands", tmp_path / "log"), tmp_path / "log"

    def has_three_moves():
        return log.read_text().count("genmove") == 3

    agents = (engine, parse_agent("random", GAME))
    result = play_match(GAME, agents, MatchSettings(20), stop=has_three_moves)
    engine.close()
    assert result.was_interrupted and not result.records
    assert log.read_text().count("genmove") == 3


def test_names_of_moves_may_be_upper_case():
    engine = fake("shouts")
    assert name_of(engine.choose_with_history([played("a1")], 0)[0]) == "b1"
    assert name_of(engine.choose_with_history([played("a1", "b1", "c1")], 0)[0]) == "a2"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("crashes", "ended with exit code 3"),
        ("is killed", "was killed by signal 11"),
        ("falls silent", "no answer to 'genmove"),
        ("babbles", "in 3|wrote too much"),  # whichever comes first
        ("closes its output", "closed its output"),
        ("plays an illegal move", "which is not legal"),
        ("answers nonsense", "answered 'z99 of course', not a move of tic-tac-toe"),
    ],
)
def test_a_faulty_engine_loses_the_game_and_is_named(fault, words, tmp_path, monkeypatch):
    if fault == "closes its output":
        monkeypatch.setattr(PATIENCE, 0.1)
    engine = fake(fault, limits="engines=2" + ",seconds=2" * (fault in WAITED_FOR))
    result = play(engine, 2)
    faults = result.faults[0]
    assert faults and result.faults[1] == []
    for record in result.records:
        assert (record.loser is not None) == bool(record.fault)
        if record.fault:
            assert re.search(words, record.fault) and record.seats[record.loser] == 0
            assert record.score == 0.0 and "genmove" in record.transcript
    assert result.as_dict()["lost_by_fault"] == [len(faults), 0]
    kept = save_transcripts([result], tmp_path / "games.jsonl")
    assert kept == tmp_path / "games.jsonl.faults.txt"
    assert kept.read_text().count(f"# {engine.name}\n") == len(faults)


def test_the_transcript_of_a_crashed_engine_is_saved(tmp_path):
    result = play(fake("crashes"))
    path = save_transcripts([result])
    assert "! bug: index out of range" in path.read_text()
    path.unlink()
    save_games([result], tmp_path / "games.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    endings = collections.Counter(row["ending"] for row in rows)
    assert endings["fault"] == len(result.faults[0]) > 0
    assert all(bool(row["fault"]) == (row["ending"] == "fault") for row in rows)


def test_an_engine_that_failed_is_started_again_for_the_next_game():
    engine = fake("crashes")
    first = engine.choose_with_history([played("b2", number=n) for n in range(3)], 0)
    assert name_of(first[0]) == "a1" and isinstance(first[1], Forfeit) and name_of(first[2]) == "a1"


def test_resigning_loses_and_is_not_a_fault(tmp_path):
    result = play(fake("resigns"), 6)
    resigned = [record for record in result.records if record.loser is not None]
    assert resigned and result.faults == ([], [])
    assert all(record.score == 0.0 and not record.fault for record in resigned)
    assert save_transcripts([result]) is None
    save_games([result], tmp_path / "games.jsonl")
    read = list(read_match_games((tmp_path / "games.jsonl").read_text()))
    assert [game.resigned for game in read] == [record.loser for record in result.records]


def test_an_engine_that_is_slow_but_in_time_has_no_faults():
    assert play(fake("is slow", limits="engines=2,seconds=300")).faults == ([], [])


def test_lines_that_are_not_answers_are_skipped():
    assert play(fake("speaks first")).faults == ([], [])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (f"gtp:{command('dies at once')}", "ended with exit code 127"),
        (f"gtp[startup=0.2]:{command('never reads')}", "no answer to 'list_commands' in 0.2 s"),
        (f"gtp:{command('knows nothing')}", "does not know the GTP command clear_board"),
        ("gtp:no-such-program --mode gtp", "there is no program 'no-such-program'"),
        ("gtp:", "gtp needs a command, as in gtp:gnugo --mode gtp"),
        ("gtp[seconds=1:gnugo", "has no closing bracket"),
        ("gtp[second=1]:gnugo", "did you mean seconds"),
        ("gtp[seconds]:gnugo", "'seconds' must be option=value"),
        ("gtp[engines=-1]:gnugo", "cannot be negative"),
    ],
)
def test_an_engine_that_cannot_play_is_refused_before_the_match(spec, words):
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        parse_agent(spec, GAME)
    assert words in str(error.value)


def test_a_game_for_three_is_refused():
    with pytest.raises(ValueError, match="GTP is for two players without chance"):
        make_gtp_agent("x", make_game("trio"), command())


def test_a_position_without_its_game_is_refused():
    with pytest.raises(ValueError, match="must follow a game from its first move"):
        fake().choose([GAME.new_state()], 0)


@pytest.mark.parametrize("game", ["go(size=3)", "hex(size=3)"])
def test_our_own_program_is_an_engine_like_others(game):
    game = make_game(game)
    ours = shlex.join(
        [
            *(sys.executable, "-m", "plainzero.cli", "gtp"),
            *("--game", game.name),
            "--agent",
            "random",
        ]
    )
    opening = Opening((), game.new_state())
    engine = parse_agent(f"gtp[engines=1,startup=500]:{ours}", game)
    result = play_match(
        game, (engine, parse_agent("random", game)), MatchSettings(openings=(opening, opening))
    )
    engine.close()
    assert result.tally.games == 4 and result.faults == ([], [])
