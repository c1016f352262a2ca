"""Games by name, and a clear sentence for every invalid name."""

import pytest

from plainzero.games import UnknownGame, bundled_games, make_game
from plainzero.games.bundled.connect_four import ConnectFour
from plainzero.games.bundled.tic_tac_toe import TicTacToe
from plainzero.games.registry import GameSpec

OWN_GAME = """
from plainzero.games.bundled.tic_tac_toe import TicTacToe

class Mine(TicTacToe):
    size = 4

class Other:
    pass
"""


def test_bundled_games_are_named_as_they_call_themselves():
    names = list(bundled_games())
    assert {"tic-tac-toe", "connect-four", "dots-and-boxes", "trio", "2048"} <= set(names)
    assert [make_game(name).name for name in names] == names


def test_name_carries_the_parameters_that_differ_from_the_default():
    game = make_game(" connect-four( rows=7 , cols=7 ) ")
    assert game == ConnectFour(rows=7, cols=7)
    assert game.name == "connect-four(rows=7)"
    assert make_game(game.name) == game


def test_game_from_a_file_is_loaded_once(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN_GAME)
    game = make_game(f"{path}:Mine")
    assert game.size == 4
    assert isinstance(game, TicTacToe)
    assert type(make_game(f"{path}:Mine")) is type(game)
    assert make_game(f"{path}:Mine(size=5)").size == 5


def test_file_alone_names_the_one_game_in_it(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN_GAME + "\nclass _Base(TicTacToe):\n    pass\n")
    assert make_game(str(path)) == make_game(f"{path}:Mine")
    assert make_game(f"{path}(size=5)") == make_game(f"{path}:Mine(size=5)")


def test_file_alone_is_refused_if_it_defines_several_games_or_none(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN_GAME + "\nclass Yours(TicTacToe):\n    pass\n")
    with pytest.raises(
        UnknownGame, match=r"defines several games: Mine, Yours; name one as .*:Cla"
    ):
        make_game(str(path))
    (tmp_path / "none.py").write_text("from plainzero import Game\n")
    with pytest.raises(UnknownGame, match="defines no game"):
        make_game(str(tmp_path / "none.py"))


def test_relative_and_absolute_paths_of_a_file_are_one_game(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(OWN_GAME)
    monkeypatch.chdir(tmp_path)
    games = [make_game(f"{path}:Mine") for path in ("mine.py", "./mine.py", tmp_path / "mine.py")]
    assert games[0] == games[1] == games[2]
    assert len({hash(game) for game in games}) == len({game.tag for game in games}) == 1


@pytest.mark.parametrize(
    ("text", "path", "name", "parameters"),
    [
        ("connect-four", "", "connect-four", ""),
        (" connect-four( rows=7, cols=8 ) ", "", "connect-four", "rows=7, cols=8"),
        ("hex()", "", "hex", ""),
        ("hex(inner=x.py(size=3))", "", "hex", "inner=x.py(size=3)"),
        ("open_spiel:chess", "", "open_spiel:chess", ""),
        ("open_spiel:go(board_size=5)", "", "open_spiel:go", "board_size=5"),
        ("amazons.py", "amazons.py", "", ""),
        ("amazons.py(size=6)", "amazons.py", "", "size=6"),
        ("amazons.py:Amazons", "amazons.py", "Amazons", ""),
        ("amazons.py:Amazons (size=6)", "amazons.py", "Amazons", "size=6"),
        ("x.py:Mine(inner=y.py:Yours(size=3))", "x.py", "Mine", "inner=y.py:Yours(size=3)"),
        ("/a:b/amazons.py", "/a:b/amazons.py", "", ""),
        ("/a:b/amazons.py:Amazons(size=6)", "/a:b/amazons.py", "Amazons", "size=6"),
        ("/a.py:b/amazons.py", "/a.py:b/amazons.py", "", ""),
        (r"C:\x\amazons.py", r"C:\x\amazons.py", "", ""),
        (r"C:\x (old)\amazons.py:Amazons", r"C:\x (old)\amazons.py", "Amazons", ""),
        ("/a (1)/amazons.py(size=6)", "/a (1)/amazons.py", "", "size=6"),
        ("link:Mine(size=4)", "link", "Mine", "size=4"),
    ],
)
def test_a_name_has_a_path_a_class_and_parameters(text, path, name, parameters):
    spec = GameSpec.parse(text)
    assert spec == (path, name, parameters)
    assert GameSpec.parse(str(spec)) == spec


@pytest.mark.parametrize("folder", [".", "a:b", "a (1)"])
@pytest.mark.parametrize("name", ["mine.py", "mine.py:Mine", "mine.py(size=5)", "mine.py:Mine()"])
def test_an_absolute_name_is_the_same_game_in_every_folder(tmp_path, monkeypatch, folder, name):
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / folder / "mine.py").write_text(OWN_GAME)
    monkeypatch.chdir(tmp_path)
    game, absolute = make_game(f"{folder}/{name}"), GameSpec.parse(f"{folder}/{name}").absolute()
    assert absolute.path == str((tmp_path / folder / "mine.py").resolve())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert make_game(str(absolute)) == game


def test_an_absolute_name_of_a_bundled_game_is_its_name():
    assert str(GameSpec.parse("trio(size=5)").absolute()) == "trio(size=5)"
    assert str(GameSpec.parse("open_spiel:chess").absolute()) == "open_spiel:chess"


@pytest.mark.parametrize("part", [" ", ".py(", ".py() ", ".py:a "])
def test_a_long_name_is_refused_at_once(part):
    with pytest.raises(UnknownGame, match="is not a game's name"):
        make_game("a" + part * 100_000 + "(")


def test_a_game_that_only_open_spiel_has_is_suggested():
    pytest.importorskip("pyspiel")
    with pytest.raises(UnknownGame, match=r"no game .chess.; did you mean open_spiel:chess\?"):
        make_game("chess")
    with pytest.raises(UnknownGame, match=r"did you mean tic-tac-toe\?"):
        make_game("tic_tac_toe")


def test_without_open_spiel_its_games_are_suggested_with_how_to_install_it(monkeypatch):
    monkeypatch.setattr("plainzero.games.open_spiel.adapter.playable_games", list)
    with pytest.raises(UnknownGame, match=r"open_spiel:chess\? It needs OpenSpiel: pip install"):
        make_game("chess")
    with pytest.raises(UnknownGame, match=r"no game 'chest'\. Bundled"):
        make_game("chest")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("conect-four", "there is no game 'conect-four'; did you mean connect-four?"),
        ("zzz", "there is no game 'zzz'. Bundled: tic-tac-toe, connect-four"),
        ("", "'' is not a game's name; write e.g. connect-four"),
        ("trio(size=4", "is not a game's name"),
        ("trio(color=1)", "trio has no parameter 'color'; its parameters: size=4, in_a_row=3"),
        ("trio(4)", "trio has no parameter '4'"),
        ("trio(size=big)", "trio: size must be int, not 'big'"),
        ("trio(size=4.0)", "trio: size must be int, not 4.0"),
        ("trio(size=True)", "trio: size must be int, not True"),
        ("trio(size=4,in_a_row=5)", "trio: in_a_row must be 2 to size, here 4, not 5"),
        ("connect-four(rows=20)", "do not fit"),
        ("connect-four(in_a_row=1)", "in_a_row must be 2 or more, not 1"),
        ("tic-tac-toe(size=0)", "tic-tac-toe: size must be 1 to 26, not 0"),
        ("dots-and-boxes(rows=0)", "each must be 1 to 25"),
        ("2048(target=100)", "target must be a power of two from 8 to 65536, not 100"),
        ("2048(size=9)", "size must be 2 to 5, not 9"),
        ("nowhere/mine.py:Mine", "there is no file 'nowhere/mine.py'"),
    ],
)
def test_wrong_name_is_answered_with_one_sentence(name, message):
    with pytest.raises(UnknownGame) as error:
        make_game(name)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_games_parameters_are_refused_without_its_path(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN_GAME)
    with pytest.raises(UnknownGame, match=r"^mine has no parameter 'color'; its parameters: size"):
        make_game(f"{path}:Mine(color=1)")


def test_parameters_that_a_game_trips_over_are_refused(tmp_path):
    path = tmp_path / "tripping.py"
    path.write_text(
        OWN_GAME.replace("size = 4", "num_actions = property(lambda self: 10 // (self.size - 4))")
    )
    with pytest.raises(UnknownGame, match="mine cannot have these parameters: ZeroDivisionError"):
        make_game(f"{path}:Mine(size=4)")


def test_class_that_is_no_game_is_named_with_those_that_are(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN_GAME)
    with pytest.raises(UnknownGame, match=r"no game class 'Other'; game classes there: .*Mine"):
        make_game(f"{path}:Other")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def broken(:\n", r"mine.py does not load: SyntaxError: .*line 1"),
        ("import no_such_module\n", "mine.py does not load: ModuleNotFoundError: No module named"),
        ("raise SystemExit('done')\n", "mine.py does not load: SystemExit: done"),
        ("1 / 0\n", "mine.py does not load: ZeroDivisionError: division by zero"),
    ],
)
def test_file_that_does_not_load_says_why(tmp_path, source, message):
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(UnknownGame, match=message):
        make_game(f"{path}:Mine")
