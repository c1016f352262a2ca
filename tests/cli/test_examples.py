"""The examples and the code in the documents run, and say what they promise."""

import dataclasses
import re
import runpy
from pathlib import Path

from tesuji import SearchConfig, check_game, make_game

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name, capsys):
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_own_game_passes_the_check(tesuji):
    code, out, _ = tesuji("check", f"{EXAMPLES / 'nim.py'}:Nim(stones=9)", "--games", "5")
    assert code == 0 and "nim(stones=9) is in order" in out


def test_own_game_is_solved(tesuji):
    game = f"{EXAMPLES / 'nim.py'}:Nim(stones=7)"
    out = tesuji("search", game, "--set", "proven_values=true").out
    assert "best move  3" in out and "proven: win" in out  # four stones left lose


def test_search_example_goes_on_with_its_tree(capsys):
    out = run("search_a_position", capsys)
    assert "20000 new simulations, 20000 visits in all" in out
    visits = [int(line.split()[3]) for line in out.splitlines() if "visits" in line]
    assert len(visits) == 2 and visits[1] > 25_000


def test_evaluator_example_searches_eight_games(capsys):
    lines = run("own_evaluator", capsys).splitlines()
    assert len(lines) == 8
    for line in lines:
        visits = [int(word) for word in line.split()[:7]]
        assert sum(visits) == 400 and visits[3] > visits[0]  # the centre


def test_blocks_of_the_guide_run_one_after_the_other():
    guide = (EXAMPLES.parent / "docs" / "using-the-search.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) > 6
    names = {}
    for block in blocks:
        exec(block, names)


def test_game_of_the_readme_is_the_examples(tmp_path, tesuji):
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
