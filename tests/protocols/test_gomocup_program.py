"""`plainzero gomocup`: the protocol, the limits, and invalid input."""

import functools
import random
import string

import pytest

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.opponents.timed_moves import limit_by_clock
from plainzero.protocols.gomocup.limits import Limits, resident_bytes
from plainzero.protocols.gomocup.program import GomocupServer, parse_line
from plainzero.protocols.gomocup.session import GomocupSession
from plainzero.protocols.line_reader import LineReader
from plainzero.search.resolve_options import TREE_BYTES

NO_LIMIT = 2**31 - 1
MIB = 1 << 20


def make_session(agent):
    return GomocupSession(make_game("gomoku"), functools.partial(parse_agent, agent))


def talk(*lines, agent="random"):
    """All lines of the answers to the lines."""
    return converse(make_session(agent), *lines)


def converse(session, *lines):
    written = []
    GomocupServer(session, LineReader(lines), written.append).serve()
    return "".join(written).splitlines()


def board(session):
    """The rows from the top; x for the first player's stones."""
    return ["".join(row) for row in session.game.view(session.state).cells]


def after(*lines):
    """A session on a 5×5 board, and its last answer."""
    session = make_session("random")
    said = converse(session, "START 5", *lines)
    return session, said[-1]


def is_point(text):
    x, _, y = text.partition(",")
    return x.isdecimal() and y.isdecimal()


def test_a_session_with_a_tournament_manager():
    said = talk(
        "START 7", "INFO rule 1", "BEGIN", "TURN 6,6", "RESTART", "TURN 3,3", "END", "ABOUT"
    )
    assert [word if word == "OK" else is_point(word) for word in said] == [
        *("OK", True, True),
        *("OK", True),
    ]


def test_about_names_program_and_version():
    (said,) = talk("ABOUT")
    assert (
        said.startswith('name="PlainZero", version="') and 'author="' in said and "country=" in said
    )


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("turn 3,4\r\n", ("TURN", "3,4")),
        ("  INFO   folder  C:\\my games ", ("INFO", "folder  C:\\my games")),
        ("ST\x00ART 20", ("ST", "ART 20")),
        ("\n", ("", "")),
    ],
)
def test_lines_are_read_with_tolerance(line, parts):
    assert parse_line(line) == parts


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("TURN 2,2", "ERROR 2,2 is occupied or forbidden"),
        ("TURN 5,0", "ERROR '5,0' is not a point; points are 0,0 to 4,4"),
        ("TURN", "ERROR '' is not a point"),
        ("TURN 1,1,1", "ERROR '1,1,1' is not a point"),
        ("PLAY 9,9", "ERROR '9,9' is not a point"),
        ("BEGIN", "ERROR there are stones on the board"),
        ("TAKEBACK 0,0", "ERROR there is no stone on 0,0"),
        ("START", "ERROR '' is not a whole number"),
        ("START 4", "ERROR gomoku: size must be 5 to 26, not 4"),
        ("START 99999999999999999999", "ERROR '99999999999999999999' is not a whole number"),
        ("RECTSTART 5,6", "ERROR the board is 5,6; it must be square"),
        ("RECTSTART 5", "ERROR '' is not a whole number"),
        ("SWAP2BOARD", "UNKNOWN command SWAP2BOARD"),
        ("DONE", "UNKNOWN command DONE"),
        ("INFO rule many", "MESSAGE INFO rule: 'many' is not a whole number"),
        ("INFO timeout_turn soon", "MESSAGE INFO timeout_turn: 'soon' is not a whole number"),
    ],
)
def test_invalid_commands_are_refused_and_change_nothing(line, answer):
    session, _ = after("PLAY 2,2")
    before = board(session)
    (said,) = converse(session, line)
    assert said.startswith(answer) and board(session) == before
    assert session.game.size == 5


def test_before_start_there_is_no_board():
    for line in ("TURN 1,1", "BEGIN", "RESTART", "TAKEBACK 0,0", "PLAY 1,1"):
        assert talk(line) == ["ERROR there is no board yet; send START"]
    assert talk("BOARD", "1,1,1", "DONE") == ["ERROR there is no board yet; send START"]


def test_square_rectangles_are_boards():
    session = make_session("random")
    assert converse(session, "RECTSTART 6,6") == ["OK"] and session.game.size == 6


def test_turn_plays_for_both():
    session, said = after("TURN 1,0")
    x, y = map(int, said.split(","))
    assert board(session)[0][1] == "x" and board(session)[y][x] == "o"


def test_play_plays_the_given_point():
    session, said = after("PLAY 4,1")
    assert said == "4,1" and board(session)[1] == "....x"


# ---- boards -------------------------------------------------------------------------------------


def place(*stones, rule=0):
    session = make_session("random")
    said = converse(session, "START 5", f"INFO rule {rule}", "BOARD", *stones, "DONE")
    return session, said[-1]


@pytest.mark.parametrize(
    ("stones", "first_row", "colour"),
    [
        ([], ".....", 0),
        (["0,0,2"], "x....", 1),
        (["0,0,1", "1,0,2"], "xo...", 0),
        (["0,0,2", "1,0,1", "2,0,2"], "xox..", 1),
        (["0,0,2", "1,0,2", "2,0,1"], "xxo..", 1),  # the same stones in another order
        (["0,0,1", "1,0,1", "2,0,2"], "xxo..", 0),  # no game leads to these stones
    ],
)
def test_a_board_determines_who_moved_first(stones, first_row, colour):
    session, said = place(*stones)
    assert is_point(said)
    assert converse(session, f"TAKEBACK {said}") == ["OK"]
    assert board(session)[0] == first_row and int(session.state.to_play) == colour


def test_a_game_continues_after_a_board():
    session, _ = place("0,0,2", "1,0,1", "2,0,2")
    free = next(f"{x},{y}" for y in range(1, 5) for x in range(5) if board(session)[y][x] == ".")
    (said,) = converse(session, f"TURN {free}")
    assert is_point(said) and [stone.colour for stone in session.stones] == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("stones", "words"),
    [
        (["1,1,7"], "'1,1,7' is not x,y,1 or x,y,2"),
        (["1,1,3"], "'1,1,3' is no"),
        (["nonsense", "1,1,1"], "'nonsense' is no"),
        (["1,1,1", "1,1,2"], "two stones are on the same point"),
        (["1,1,1", "9,9,2"], "'9,9' is not a point"),
        ([f"{x},0,1" for x in range(5)], "the game is over"),
    ],
)
def test_an_impossible_board_is_refused(stones, words):
    _, said = place(*stones)
    assert said.startswith("ERROR ") and words in said


def test_a_board_without_done_does_not_swallow_the_next_command():
    assert after("BOARD", "1,1,2", "RESTART")[1] == "OK"
    assert talk("START 5", "BOARD", "1,1,2", "END") == ["OK", "ERROR END came before DONE"]
    assert talk("START 5", "BOARD", "1,1,2") == ["OK", "ERROR the board ended without DONE"]


def test_points_that_renju_forbids_are_marked_and_left_out():
    session, said = place("0,0,2", "4,4,3", rule=4)
    assert is_point(said) and session.game.is_renju and len(session.stones) == 2


def test_stones_are_taken_back_in_any_order():
    session, said = after("TURN 0,0")
    assert converse(session, f"TAKEBACK {said}") == ["OK"]
    assert int(session.state.to_play) == 1
    assert converse(session, "TAKEBACK 0,0") == ["OK"]
    assert int(session.state.to_play) == 0 and not session.stones
    session, said = after("TURN 0,0")
    assert converse(session, "TAKEBACK 0,0", f"TAKEBACK {said}", "PLAY 3,3") == ["OK", "OK", "3,3"]
    assert [stone.colour for stone in session.stones] == [0]


# ---- rules --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "rule"), [(0, "freestyle"), (1, "standard"), (4, "renju"), (5, "renju")]
)
def test_the_rule_is_a_number(bits, rule):
    for lines in ([f"INFO rule {bits}", "START 6"], ["START 6", f"INFO rule {bits}"]):
        session = make_session("random")
        assert converse(session, *lines) == ["OK"]
        assert session.game == make_game(f"gomoku(size=6,rule={rule})")


@pytest.mark.parametrize(
    ("bits", "name"), [(8, " (caro)"), (9, " (caro)"), (2, " (continuous play)"), (64, "")]
)
def test_unsupported_rules_are_refused_until_another_one_is_set(bits, name):
    words = f"unsupported rule {bits}{name}; rules are"
    said = talk("START 5", f"INFO rule {bits}", "BEGIN", "START 5", "INFO rule 0", "BEGIN")
    assert words in said[1] and said[1].startswith("MESSAGE")
    assert all(words in line and line.startswith("ERROR") for line in said[2:4])
    assert is_point(said[4])


def test_stones_stay_when_the_rule_changes():
    session, _ = after("TURN 0,0")
    before = board(session)
    converse(session, "INFO rule 4")
    assert session.game.is_renju and board(session) == before


def test_what_renju_forbids_is_refused():
    stones = ["2,1,1", "0,4,2", "2,2,1", "4,4,2", "1,3,1", "0,5,2", "3,3,1", "5,5,2"]
    session = make_session("random")
    lines = ["START 7", "INFO rule 4", *(f"PLAY {stone[:3]}" for stone in stones)]
    assert converse(session, *lines, "TURN 2,3")[-1].startswith("ERROR 2,3 is occupied or forb")


# ---- limits -------------------------------------------------------------------------------------


def limits(**information):
    taken = Limits()
    for key, value in information.items():
        taken.take(key, value)
    return taken


def test_there_is_no_limit_by_default():
    assert limits().allot(0) is None
    assert limits(timeout_match=0, time_left=NO_LIMIT).allot(0) is None
    assert limits(max_memory=0).tree_bytes(100 * MIB, 10 * MIB) == 100 * MIB


@pytest.mark.parametrize("milliseconds", [0, 1, 50, 200, 1000, 30000])
def test_a_turn_takes_most_of_its_time_and_never_all_of_it(milliseconds):
    seconds = limits(timeout_turn=milliseconds).allot(0)
    assert seconds == 0.01 if milliseconds < 15 else 0.69 < 1000 * seconds / milliseconds < 1


def test_the_time_of_a_game_is_shared_and_never_used_up():
    clock = limits(timeout_turn=30000, timeout_match=180000)
    assert 5 < clock.allot(0) < 6
    for move in range(200):
        clock.spend(clock.allot(move) + 0.005)
        assert clock.left > 0 or move > 60
    assert clock.allot(200) == 0.01


def test_time_left_overrides_our_own_clock():
    clock = limits(timeout_turn=5000, timeout_match=100000, time_left=1000)
    assert clock.allot(0) < 0.1
    assert limits(timeout_turn=1000, time_left=NO_LIMIT).allot(0) > 0.8
    assert limits(timeout_turn=1000, time_left=-20).allot(0) == 0.01
    clock.refill()
    assert clock.left == 100


def test_a_new_game_has_all_its_time():
    session = make_session("random")
    converse(session, "INFO timeout_match 5000", "START 5", "INFO time_left 100", "RESTART")
    assert session.limits.left == 5


def test_a_tree_has_the_memory_that_is_left():
    limited = limits(max_memory=350 * MIB)
    assert limited.tree_bytes(1024 * MIB, 250 * MIB) == 100 * MIB
    assert limited.tree_bytes(50 * MIB, 250 * MIB) == 50 * MIB
    assert limited.tree_bytes(1024 * MIB, 400 * MIB) == 350 * MIB // 8
    assert limits(max_memory=1).tree_bytes(1024 * MIB, 400 * MIB) == 4 * MIB
    assert 10 * MIB < resident_bytes() < 64 * 1024 * MIB


def test_a_search_is_limited_in_time_and_memory():
    session = make_session("uct:100000000")
    unlimited = session.limited_agent().config
    session.limits.take("max_memory", resident_bytes() + 64 * MIB)
    session.limits.take("timeout_turn", 2000)
    limited = session.limited_agent().config
    assert limited.max_bytes < unlimited.max_bytes == TREE_BYTES
    asked = limit_by_clock(limited, session.limits.allot(0))
    assert asked.simulations == 0 and 1.5 < asked.seconds < 2
    assert asked.max_bytes == limited.max_bytes


def test_the_clock_limits_the_search():
    said = talk(
        *("START 15", "INFO timeout_turn 200", "INFO max_memory 400000000", "BOARD"),
        *("0,0,1", "0,4,2", "1,0,1", "1,4,2", "2,0,1", "2,4,2", "3,0,1", "3,4,2", "DONE"),
        agent="threats:100000000",
    )
    assert said == ["OK", "4,0"]  # five in a row


# ---- invalid input ------------------------------------------------------------------------------


def test_garbage_is_refused_without_a_crash():
    generator = random.Random(4)
    session = make_session("random")
    names = "START RECTSTART RESTART BEGIN TURN BOARD TAKEBACK PLAY INFO ABOUT DONE SUGGEST".split()
    words = [*names, "rule", "time_left", "5", "4", "0,0", "1,2", "2,3,1", "0,1,2", "1,1,3", "-1"]
    words += ["9" * 30, "\x00", "é", "6,6", "7"]
    lines = []
    for _ in range(600):
        line = " ".join(generator.choices(words, k=generator.randrange(4)))
        lines.append(line + "".join(generator.choices(string.printable, k=generator.randrange(2))))
    for answer in converse(session, *lines):
        assert "internal error" not in answer
        is_word = answer.split(" ")[0] in ("OK", "ERROR", "UNKNOWN", "MESSAGE", 'name="PlainZero",')
        assert is_word or is_point(answer), answer
    assert converse(session, "DONE", "INFO rule 0", "START 5", "BEGIN")[-2] == "OK"


def test_the_command_speaks_on_stdin_and_stdout(plainzero):
    code, out, err = plainzero(
        *("gomocup", "--agent", "random"), typed="START 6\r\nPLAY 1,2\r\nINFO rule 0\r\nEND\r\n"
    )
    assert (code, out, err) == (0, "OK\n1,2\n", "")


def test_an_unknown_agent_is_refused(refused):
    assert "unknown agent 'nobody'" in refused("gomocup", "--agent", "nobody")
