"""`plainzero gtp`: the protocol, the clock, and invalid input."""

import functools
import random
import string
import threading

import pytest

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.protocols.gtp.clock import Clock, TimeSettings
from plainzero.protocols.gtp.program import GtpServer, parse_line
from plainzero.protocols.gtp.session import GtpSession
from plainzero.protocols.line_reader import LineReader


def make_session(game, agent, seed=0):
    return GtpSession(make_game(game), functools.partial(parse_agent, agent), seed)


def talk(*lines, game="go(size=5)", agent="random"):
    """The answers to the lines, each without its trailing empty line."""
    return converse(make_session(game, agent), *lines)


def converse(session, *lines):
    written = []
    GtpServer(session, LineReader(lines), written.append).serve()
    said = "".join(written)
    assert said == "" or said.endswith("\n\n")
    return said.removesuffix("\n\n").split("\n\n") if said else []


def board(*lines, **options):
    """The rows of the board after the lines, from the top."""
    *_, shown = talk(*lines, "showboard", **options)
    return ["".join(row.split()[1:]) for row in shown.splitlines()[1:]]


def test_answers_have_marks_numbers_and_an_empty_line():
    assert talk("name", "7 protocol_version", "8 nonsense") == [
        "= PlainZero",
        "=7 2",
        "?8 unknown command",
    ]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("  12\tplay  b D4 # a comment \r\n", ("12", "play", ["b", "D4"])),
        ("na\x01me", ("", "name", [])),
        ("# nothing", ("", "", [])),
        ("", ("", "", [])),
        ("34", ("34", "", [])),
    ],
)
def test_lines_are_read_with_tolerance(line, parts):
    assert parse_line(line) == parts


def test_every_command_that_is_listed_is_known():
    (listed,) = talk("list_commands")
    names = listed.removeprefix("= ").split()
    needed = "boardsize komi clear_board play genmove undo time_settings time_left final_score"
    assert {*needed.split(), "list_commands", "showboard", "lz-analyze", "quit"} <= set(names)
    assert talk(*(f"known_command {name}" for name in names)) == ["= true"] * len(names)
    assert talk("known_command fly") == ["= false"]


def test_nothing_is_answered_after_quit():
    assert talk("quit", "name") == ["="]


def test_stones_are_played_captured_and_taken_back():
    lines = ["play b a2", "play w a1", "play black B1"]
    assert board(*lines)[3:5] == ["x....", ".x..."]
    assert board(*lines, "undo")[3:5] == ["x....", "o...."]
    assert talk(*lines, *["undo"] * 4)[-1] == "? cannot undo"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("play b c3", "? illegal move"),
        ("play b z9", "? invalid color or coordinate"),
        ("play b i3", "? invalid color or coordinate"),
        ("play green a1", "? invalid color or coordinate"),
        ("play b", "? syntax error"),
        ("play", "? syntax error"),
        ("genmove", "? syntax error"),
        ("komi much", "? syntax error"),
        ("komi nan", "? syntax error"),
        ("komi 9999", "? unacceptable komi"),
        ("boardsize 1", "? unacceptable size"),
        ("boardsize 99999", "? unacceptable size"),
        ("boardsize -3", "? syntax error"),
        ("boardsize 5 7", "? unacceptable size"),
        ("time_settings 1 2", "? syntax error"),
        ("time_left b -1 0", "? syntax error"),
        ("set_free_handicap a1", "? bad vertex list"),
        ("set_free_handicap a1 pass", "? board not empty"),
        ("fixed_handicap 2", "? invalid number of stones"),
        ("final_status_list sleeping", "? syntax error"),
        ("loadsgf nowhere.sgf", "? cannot load file: No such file or directory"),
        ("lz-analyze", "? random does not search, so there is no analysis"),
        ("lz-analyze avoid b a1 10", "? unknown argument avoid; use lz-analyze"),
    ],
)
def test_invalid_commands_are_refused_and_change_nothing(line, answer):
    before, refused, after = talk("play w c3", "showboard", line, "showboard")[1:]
    assert refused.startswith(answer) and before == after


def test_a_colour_may_move_out_of_turn_where_the_game_has_a_pass():
    stones = ["play b a1", "play b b1", "play b c1", "play w a5", "play w b5"]
    assert board(*stones)[0] == "oo..." and board(*stones)[4] == "xxx.."


def test_players_may_continue_after_two_passes():
    passes = ["play b c3", "play w pass", "play b pass"]
    assert board(*passes, "play b a1")[4] == "x...."
    assert board(*passes, "play w a1")[4] == "o...."
    assert talk(*passes, "genmove w")[-1] == "= pass"


def test_out_of_turn_is_refused_where_nobody_can_pass():
    assert talk("play w a1", game="hex(size=3)") == ["? it is the turn of black"]
    lines = [f"play {move}" for move in ("b a1", "w b1", "b a2", "w b2", "b a3", "w b3")]
    answers = talk(*lines, "genmove w", "final_score", game="hex(size=3)")
    assert answers[-3:] == ["? the game is over", "? the game is over", "= B+"]


def test_swapping_has_its_usual_gtp_name():
    assert talk("play b a1", "play w swap-pieces", game="hex(size=3,swap=true)") == ["=", "="]


def test_a_pass_that_others_omit_is_played_for_them():
    session = make_session("othello(size=4)", "random")
    moves = random.Random(1)
    while not session.position.state.is_over:
        state = session.position.state
        legal = session.game.legal(state)
        if session.pass_action in legal:
            state = session.turn_of(1 - int(state.to_play))
            legal = session.game.legal(state)
        colour = "bw"[int(state.to_play)]
        move = session.name_move(moves.choice(legal))
        assert converse(session, f"play {colour} {move}") == ["="]
    cells = [cell for row in session.game.view(session.position.state).cells for cell in row]
    lead = cells.count("x") - cells.count("o")
    said = "0" if lead == 0 else f"{'B' if lead > 0 else 'W'}+{abs(lead)}"
    assert converse(session, "final_score") == [f"= {said}"]


def test_the_score_is_the_area_with_komi():
    lines = ["komi 0.5", "play b c1", "play w d1", "play b c2", "play w d2", "play b c3"]
    lines += ["play w d3", "play b c4", "play w d4", "play b c5", "play w d5"]
    assert talk(*lines, "final_score")[-1] == "= B+4.5"
    assert talk(*lines, "komi 7.5", "final_score")[-1] == "= W+2.5"
    assert talk(*lines, "komi 5", "final_score")[-1] == "= 0"
    ended = [*lines, "play b pass", "play w pass"]
    assert talk(*ended, "final_score")[-1] == "= B+4.5"
    alive = talk(*ended, "final_status_list alive")[-1].removeprefix("= ").split()
    assert sorted(alive) == sorted(f"{column}{row}" for column in "CD" for row in range(1, 6))


def test_komi_may_change_in_the_middle_of_a_game():
    lines = ["play b c3", "play w d3", "komi 0.5", "undo", "play w b3"]
    assert board(*lines)[2] == ".ox.."


def test_the_board_may_change_its_size():
    assert len(board("boardsize 7")) >= 7 and talk("boardsize 7", "play b g7") == ["=", "="]
    assert talk("boardsize 7 7", "boardsize 5", "play b g7")[-1] == "? invalid color or coordinate"
    assert talk("boardsize 6", game="connect-four") == ["="]
    assert talk("boardsize 7", game="connect-four") == ["? unacceptable size"]


def test_handicap_stones_stand_on_the_stars_and_white_moves():
    game = "go(size=9)"
    assert talk("fixed_handicap 2", game=game) == ["= C3 G7"]
    assert talk("fixed_handicap 5", game=game) == ["= C3 G7 C7 G3 E5"]
    assert talk("fixed_handicap 8", game=game)[0].split()[1:] == [
        *("C3", "G7", "C7", "G3", "C5", "G5", "E3", "E7")
    ]
    assert talk("place_free_handicap 3", game=game) == ["= C3 G7 C7"]
    assert len(talk("place_free_handicap 20", game=game)[0].split()) == 1 + 9
    assert talk("place_free_handicap 2", game="hex") == ["? invalid number of stones"]
    assert talk("fixed_handicap 4", game="go(size=19)") == ["= D4 Q16 D16 Q4"]
    session = make_session(game, "random")
    converse(session, "set_free_handicap A1 B1 C1")
    assert int(session.position.state.to_play) == 1


def test_genmove_plays_and_reg_genmove_does_not():
    session = make_session("go(size=5)", "random", seed=3)
    first, again, played = converse(session, "reg_genmove b", "reg_genmove b", "genmove b")
    assert first == again == played and len(session.position.moves) == 1


def test_two_sessions_play_whole_games():
    for game in ("go(size=4)", "othello(size=4)", "hex(size=4)", "gomoku(size=6)", "tic-tac-toe"):
        session = make_session(game, "random", seed=1)
        while not session.position.state.is_over:
            colour = "bw"[int(session.position.state.to_play)]
            (answer,) = converse(session, f"genmove {colour}")
            assert answer.startswith("= ")
        assert converse(session, "final_score")[0].startswith("= ")


def test_a_saved_game_is_loaded_up_to_a_move(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]FF[4]SZ[5]KM[6.5];B[cc];W[bc];B[bb])")
    session = make_session("go(size=9)", "random")
    assert converse(session, f"loadsgf {path} 3") == ["="]
    assert session.game == make_game("go(size=5,komi=6.5)") and len(session.position.moves) == 2
    assert converse(session, f"loadsgf {path}", "play w a1") == ["=", "="]
    path.write_text("(;GM[11]FF[4]SZ[5];B[a1])")
    assert "not of go" in converse(session, f"loadsgf {path}")[0]
    path.write_bytes(b"\xff\x00garbage")
    assert converse(session, f"loadsgf {path}")[0].startswith("? ")
    assert len(session.position.moves) == 4


def test_garbage_is_refused_without_a_crash():
    generator = random.Random(4)
    session = make_session("go(size=3)", "random")
    (listed,) = converse(session, "list_commands")
    names = sorted(set(listed.removeprefix("= ").split()) - {"quit", "boardsize"})
    words = [*names, "b", "w", "a1", "C3", "pass", "1", "-1", "1e999", "#", "\x00", "é", "9" * 30]
    for _ in range(400):
        line = " ".join(generator.choices(words, k=generator.randrange(5)))
        line += "".join(generator.choices(string.printable, k=generator.randrange(3)))
        for answer in converse(session, line):
            assert answer[0] in "=?" and "internal error" not in answer, (line, answer)
    assert converse(session, "name") == ["= PlainZero"]


# ---- the clock ----------------------------------------------------------------------------------


def test_without_limits_a_move_has_no_time_limit():
    assert Clock(TimeSettings(0, 10, 0)).allot(30) is None


@pytest.mark.parametrize(
    "settings",
    [
        TimeSettings(10, 0, 0),
        TimeSettings(300, 0, 0),
        TimeSettings(0, 5, 1),
        TimeSettings(0, 30, 5),
        TimeSettings(20, 10, 3),
        TimeSettings(60, 1, 1),
    ],
)
def test_allotted_time_never_exceeds_the_time_left(settings):
    clock = Clock(settings)
    left, stones = settings.main, 0  # as the controller counts them
    if not settings.main:
        left, stones = settings.period, settings.stones
    for move in range(200):
        spent = clock.allot(max(0, 40 - move)) + 0.02
        clock.spend(spent)
        left -= spent
        if stones == 0 and left < 0 and settings.stones:
            left, stones = left + settings.period, settings.stones
        elif stones == 1:
            assert left >= 0
            left, stones = settings.period, settings.stones
        elif stones:
            stones -= 1
        if not settings.stones and left < 1:
            break  # the rest of an absolute time is used in the smallest steps
        assert left >= 0


def test_most_of_the_time_is_used():
    clock = Clock(TimeSettings(0, 30, 5))
    assert 5 < clock.allot(30) < 6
    clock = Clock(TimeSettings(300, 0, 0))
    assert 9 < clock.allot(30) < 10


def test_time_left_overrides_our_own_clock():
    session = make_session("go(size=5)", "random")
    converse(session, "time_settings 100 20 2", "time_left w 7 1")
    black, white = session.clocks
    assert (black.left, black.stones) == (100, 0) and (white.left, white.stones) == (7, 1)
    converse(session, "clear_board")
    assert session.clocks[1].left == 100


# ---- with a search ------------------------------------------------------------------------------


def test_an_analysis_continues_until_the_next_line():
    lines, written, may_continue = iter(["lz-analyze b 1", "3 name"]), [], threading.Event()

    def arriving_lines():
        yield next(lines)
        may_continue.wait(600)
        yield next(lines)

    def write(text):
        written.append(text)
        if sum(part.startswith("info") for part in written) == 3:
            may_continue.set()

    session = make_session("tic-tac-toe", "uct:100")
    session.make_ready()  # compiles, which takes long and prints nothing
    GtpServer(session, LineReader(arriving_lines()), write).serve()
    assert written[0] == "=\n" and written[-2:] == ["\n", "=3 PlainZero\n\n"]
    infos = [part for part in written if part.startswith("info")]
    assert len(infos) >= 3 and all(part.count("\n") == 1 for part in infos)
    moves = infos[-1].split("info ")[1:]
    assert len(moves) == 9
    for order, move in enumerate(moves):
        words = move.split()
        assert words[0:10:2] == ["move", "visits", "winrate", "prior", "order"]
        assert words[9] == str(order) and words[10] == "pv" and words[11] == words[1]
        assert 0 <= int(words[5]) <= 10000 and 0 <= int(words[7]) <= 10000
    assert moves[0].split()[1] == "b2"


def test_the_clock_limits_the_search():
    session = make_session("tic-tac-toe", "uct:100000000")
    answers = converse(session, "time_settings 0 1 4", "genmove b")
    assert answers == ["=", "= b2"]


def test_the_command_speaks_on_stdin_and_stdout(plainzero):
    code, out, err = plainzero(
        *("gtp", "--game", "go(size=5)", "--agent", "random"), typed="1 name\nplay b c3\nquit\n"
    )
    assert (code, out, err) == (0, "=1 PlainZero\n\n=\n\n=\n\n", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--game", "trio"], "GTP is for two players without chance; it cannot play trio"),
        (["--game", "goo"], "there is no game 'goo'"),
        (["--agent", "nobody"], "unknown agent 'nobody'"),
    ],
)
def test_invalid_options_are_refused(refused, arguments, words):
    assert words in refused("gtp", *arguments)
