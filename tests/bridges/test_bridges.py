"""Our games and agents in OpenSpiel and PettingZoo, by those projects' own tests."""

import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from plainzero import make_game
from plainzero.bridges import open_spiel_bot, register_in_open_spiel, to_pettingzoo
from plainzero.games.contract import IllegalMove

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")

PAGE = Path(__file__).parents[2] / "docs" / "bridges.md"
GAMES = ["tic-tac-toe", "connect-four(rows=4,cols=5)", "dots-and-boxes", "trio", "2048(target=16)"]


@pytest.fixture(autouse=True)
def _quiet_advice():
    """What PettingZoo advises against and its own classic games do as well: masks in a dict."""
    with warnings.catch_warnings():
        for advice in ("Observation is not", "Observation space", ".*all zeros"):
            warnings.filterwarnings("ignore", advice)
        yield


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoo_accepts_the_environment(name):
    from pettingzoo.test import api_test, render_test, seed_test

    api_test(to_pettingzoo(name), num_cycles=100)
    seed_test(lambda: to_pettingzoo(name), num_cycles=30)
    render_test(lambda render_mode: to_pettingzoo(name, render_mode))


def test_an_environment_tells_the_result_to_every_agent():
    environment = to_pettingzoo("tic-tac-toe")
    environment.reset(seed=1)
    for action in (0, 3, 1, 4, 2):
        environment.step(action)
    assert environment.terminations == {"player_0": True, "player_1": True}
    told = {}
    for agent in environment.agent_iter():
        _, reward, is_over, _, _ = environment.last()
        assert is_over
        told[agent] = reward
        environment.step(None)
    assert told == {"player_0": 1.0, "player_1": -1.0}


def test_an_environments_mask_is_what_is_legal_for_whoever_is_to_move():
    environment = to_pettingzoo("tic-tac-toe")
    environment.reset(seed=1)
    environment.step(4)
    mover, waiting = environment.observe("player_1"), environment.observe("player_0")
    assert np.flatnonzero(mover["action_mask"]).tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert not waiting["action_mask"].any()
    assert mover["observation"][1, 1, 1] == waiting["observation"][0, 1, 1] == 1.0
    with pytest.raises(IllegalMove, match="b2 is not legal"):
        environment.step(4)
    with pytest.raises(ValueError, match="render_mode is 'rgb_array'"):
        to_pettingzoo("trio", render_mode="rgb_array")


@pytest.mark.parametrize("name", GAMES)
def test_openspiel_simulates_our_game(name):
    game = pyspiel.load_game(register_in_open_spiel(name))
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    assert game.num_players() == make_game(name).num_players


def test_a_game_is_registered_once_and_two_of_one_name_apart():
    first = make_game("tic-tac-toe")
    assert register_in_open_spiel(first) == register_in_open_spiel("tic-tac-toe")

    class TicTacToe(type(first)):
        size = 4

    other = register_in_open_spiel(TicTacToe())
    assert other.startswith("plainzero_tic_tac_toe_")
    assert pyspiel.load_game(other).num_distinct_actions() == 16


def test_openspiels_search_plays_our_game_and_finds_the_win():
    from open_spiel.python.algorithms import mcts

    state = pyspiel.load_game(register_in_open_spiel("tic-tac-toe")).new_initial_state()
    for action in (0, 3, 1, 4):
        state.apply_action(action)
    random = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, random)
    bot = mcts.MCTSBot(state.get_game(), 1.4, 100, evaluator, random_state=random)
    assert bot.step(state) == 2


def test_an_agent_of_ours_plays_in_openspiel():
    from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

    game = pyspiel.load_game("tic_tac_toe")
    bot = open_spiel_bot("alphabeta:9", "tic-tac-toe", seed=1)
    for seed in range(4):
        theirs = pyspiel.make_uniform_random_bot(1, seed)
        in_python = evaluate_bots(game.new_initial_state(), [bot, theirs], np.random.RandomState(0))
        in_cpp = pyspiel.evaluate_bots(game.new_initial_state(), [bot, theirs], seed)
        assert in_python[0] >= 0.0
        assert in_cpp[0] >= 0.0
    again = [bot.step(game.new_initial_state()) for _ in range(2)]
    assert again[0] == again[1]


def test_an_agent_of_ours_plays_any_game_of_openspiels_through_the_adapter():
    game = pyspiel.load_game("pig(winscore=15)")
    bots = [open_spiel_bot("random", "open_spiel:pig(winscore=15)", seed) for seed in (1, 2)]
    assert sorted(pyspiel.evaluate_bots(game.new_initial_state(), bots, 3)) == [-1.0, 1.0]


def test_a_program_of_others_plays_in_openspiel():
    program = Path(__file__).parents[1] / "protocols" / "fake_engine.py"
    command = shlex.join([sys.executable, "-S", "-E", str(program), "resigns"])
    bot = open_spiel_bot(f"gtp[engines=1]:{command}", "tic-tac-toe")
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    state.apply_action(0)
    assert bot.step(state) == 1
    with pytest.raises(ValueError, match="forfeits, but a bot must move: it resigned"):
        bot.step(state)
    bot.agent.close()


def test_a_bot_with_other_rules_says_where_they_part():
    state = pyspiel.load_game("connect_four").new_initial_state()
    bot = open_spiel_bot("random", "connect-four(cols=6)")
    with pytest.raises(ValueError, match=r"differ after the moves .*: the legal actions differ"):
        bot.step(state)
    with pytest.raises(ValueError, match="unknown agent 'stockfish'"):
        open_spiel_bot("stockfish", "connect-four")


@pytest.mark.parametrize(
    ("call", "package"),
    [("to_pettingzoo('trio')", "pettingzoo"), ("register_in_open_spiel('trio')", "pyspiel")],
)
def test_a_missing_package_is_named(call, package):
    program = (
        f"import sys; sys.modules['{package}'] = None\n"
        "import plainzero.bridges as bridges\n"
        f"try: bridges.{call}\n"
        "except ValueError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"needs the package {package}: pip install 'plainzero[bridges]'" in told.stdout


def test_the_examples_of_the_page_run(capsys):
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) == 3
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), {})
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "[1.0, -1.0]"
    assert re.fullmatch("[a-d][1-4]", told[1])
    assert [len(row.split()) for row in told[2:]] == [7] * 6
