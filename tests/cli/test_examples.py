"""The examples and the code in the documentation run and print what they promise."""

import dataclasses
import re
import runpy
import socket
from pathlib import Path

import pytest
from test_serve import serving

from plainzero import SearchConfig, check_game, make_game

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server to ask, which asks for a token."""
    home = str(tmp_path_factory.mktemp("runs"))
    with serving("--home", home, "--no-training", "--token", "secret") as address:
        yield address


def run(name, capsys):
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_own_game_passes_the_check(plainzero):
    code, out, _ = plainzero("check", f"{EXAMPLES / 'nim.py'}:Nim(stones=9)", "--games", "5")
    assert code == 0 and "nim(stones=9) passes the check" in out


def test_own_game_is_solved(plainzero):
    game = f"{EXAMPLES / 'nim.py'}:Nim"
    moves = ("--moves", "3 3 3 3 2")  # seven of the 21 stones are left
    out = plainzero("search", game, *moves, "--set", "proven_values=true").out
    assert "best move  3" in out and "proven: win" in out  # four stones left lose


def test_search_example_goes_on_with_its_tree(capsys):
    out = run("search_a_position", capsys)
    assert "20000 new simulations, 20000 visits in total" in out
    visits = [int(line.split()[3]) for line in out.splitlines() if "visits" in line]
    assert len(visits) == 2 and visits[1] > 25_000


def test_evaluator_example_searches_eight_positions(capsys):
    heading, *lines = run("own_evaluator", capsys).splitlines()
    assert heading.split() == [*"after visits: 1 2 3 4 5 6 7 best value".split()]
    visits = {line.split()[0]: [int(word) for word in line.split()[1:8]] for line in lines}
    assert len(visits) == 8 and len(set(map(tuple, visits.values()))) == 8
    assert all(sum(counts) == 400 for counts in visits.values())
    assert max(visits["start"]) == visits["start"][3]  # the centre
    assert max(visits["121212"]) == visits["121212"][0]  # wins


def test_server_example_sees_every_choice_take_the_best_score(address, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["ask_the_server.py", address])
    lines = run("ask_the_server", capsys).splitlines()
    assert re.fullmatch(r"500 simulations, then [1-7]", lines[0])
    choices = [re.fullmatch(r"  player \d took (\d), the best score was (\d)'s", x) for x in lines]
    taken = [found.groups() for found in choices if found]
    assert taken and all(move == best for move, best in taken)
    visits = [int(found[1]) for found in re.finditer(r"had (\d+) visits", "\n".join(lines))]
    assert len(visits) == 7 and sum(visits) == 250


def test_server_example_without_a_server_says_so(capsys, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # nobody listens there
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        monkeypatch.setattr("sys.argv", ["ask_the_server.py", address])
        with pytest.raises(SystemExit, match=f"No server at {address}; start one with") as error:
            run("ask_the_server", capsys)
    assert isinstance(error.value.code, str)  # Python prints it and exits with 1


def test_streaming_example_of_the_guide_ends_with_a_move(address, capsys):
    guide = (EXAMPLES.parent / "docs" / "serving.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    place, token = address.removeprefix("http://").split("/?token=")
    for old, new in (("127.0.0.1:8420", place), ("{}", f"{{'Authorization': 'Bearer {token}'}}")):
        assert old in block
        block = block.replace(old, new, 1)
    exec(block, {})
    assert re.search(r"^plays [1-7]$", capsys.readouterr().out, re.MULTILINE)


def test_blocks_of_the_guide_run_one_after_the_other():
    guide = (EXAMPLES.parent / "docs" / "using-the-search.md").read_text()
    assert guide.count('"2048"') == 1
    guide = guide.replace('"2048"', '"2048(size=2,target=32)"')  # which other tests compile too
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) > 6
    names = {}
    for block in blocks:
        exec(block, names)


def test_game_of_the_readme_is_the_examples(tmp_path, plainzero):
    readme = (EXAMPLES.parent / "README.md").read_text()
    source = re.search(r"```python\n(# nim\.py\n.*?)```", readme, re.DOTALL)[1]
    (tmp_path / "nim.py").write_text(source)
    shown, kept = make_game(f"{tmp_path}/nim.py:Nim"), make_game(f"{EXAMPLES}/nim.py:Nim")
    assert check_game(shown, games=3) == []
    states = [game.new_state() for game in (shown, kept)]
    for action in (0, 2, 1) * 3 + (2,):
        for game, state in zip((shown, kept), states, strict=True):
            game.apply(state, action)
        assert states[0].left == states[1].left
        assert states[0].is_over == states[1].is_over
    assert states[0].is_over


def test_code_of_the_readme_runs(capsys):
    readme = (EXAMPLES.parent / "README.md").read_text()
    exec(re.findall(r"```python\n(.*?)```", readme, re.DOTALL)[-1], {})
    assert capsys.readouterr().out[0] in "1234567"


def test_options_of_the_readme_exist():
    readme = (EXAMPLES.parent / "README.md").read_text()
    table = readme.split("| options of `SearchConfig`")[1].split("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row)}
    assert len(named) > 20
    assert named <= {option.name for option in dataclasses.fields(SearchConfig)}
