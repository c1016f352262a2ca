"""`plainzero match`, `rate`, `evaluate`, `sweep`, and `play --opponent`."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from plainzero import make_game

GAME = ("--game", "tic-tac-toe")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    from plainzero.networks.architectures import make_network
    from plainzero.networks.weights import save_weights
    from plainzero.training.run_folder import RunFolder
    from plainzero.training.settings import default_config, resolve_run

    game, folder = make_game("tic-tac-toe"), RunFolder(tmp_path_factory.mktemp("runs") / "first")
    folder.make()
    config = resolve_run(default_config(game), game)
    folder.write_config(config, game, game.name)
    network = make_network(game, config.network, 0)
    save_weights(network, folder.weights_file(10), {})
    return str(folder.path)


def test_match_shows_both_seats_and_the_difference(plainzero):
    code, out, err = plainzero("match", "uct:200", "random", *GAME, "--games", "20")
    assert (code, err) == (0, "")
    assert "as first player" in out and "as second player" in out
    assert "10 " in out and "score" in out and "Elo" in out and "95 % intervals" in out


def test_match_as_json_adds_up_and_games_are_saved(plainzero, tmp_path):
    file = tmp_path / "games.jsonl"
    code, out, _ = plainzero(
        "match", "uct:50", "random", *GAME, "--games", "11", "--json", "--save", str(file)
    )
    found = json.loads(out)
    assert code == 0 and found["games"] == 12 == found["wins"] + found["draws"] + found["losses"]
    assert found["agents"] == ["uct:50", "random"] and found["elo_interval"][0] > 0
    assert len(file.read_text().splitlines()) == 12


def test_match_of_a_run_knows_its_game(plainzero, run_folder):
    code, out, _ = plainzero(
        "match", f"run:{run_folder}:20", f"run:{run_folder}@10:0", "--games", "4", "--json"
    )
    assert code == 0 and json.loads(out)["game"] == "tic-tac-toe"


def test_rate_prints_saves_and_draws_a_ladder(plainzero, tmp_path):
    plot = tmp_path / "ladder.svg"
    code, out, _ = plainzero(
        "rate", "random", "uct:5", "uct:300", *GAME, "--games", "20", "--plot", str(plot)
    )
    assert code == 0 and plot.is_file() and plot.with_suffix(".png").is_file()
    order = [line.split()[0] for line in out.splitlines() if line.strip().startswith(("u", "r"))]
    assert order[0] == "uct:300" and "Elo above random" in out


def test_rate_as_json(plainzero):
    code, out, _ = plainzero("rate", "random", "uct:100", *GAME, "--games", "10", "--json")
    found = json.loads(out)
    assert code == 0 and found["ratings"][0]["agent"] == "uct:100"
    assert found["ratings"][1] == {"agent": "random", "elo": 0.0, "error": 0.0}
    assert found["matches"][0]["games"] == 10


def test_evaluate_shows_the_network_alone_and_with_search(plainzero, run_folder, positions_file):
    options = ("--positions", positions_file, "--simulations", "200")
    code, out, err = plainzero("evaluate", run_folder, *options)
    assert (code, err) == (0, "") and "network" in out and "200 simulations" in out
    found = json.loads(plainzero("evaluate", run_folder, *options, "--json").out)
    alone, searched = found["results"]
    assert (alone["simulations"], searched["simulations"]) == (0, 200)
    assert searched["error_rate"] < alone["error_rate"]
    assert searched["error_rate"] < 0.05 and alone["positions"] == 60
    low, high = alone["error_rate_interval"]
    assert low < alone["error_rate"] < high


def test_evaluate_of_a_network_alone(plainzero, run_folder, positions_file):
    options = ("--positions", positions_file, "--json")
    for arguments in ((f"run:{run_folder}:0",), (run_folder, "--simulations", "0")):
        code, out, _ = plainzero("evaluate", *arguments, *options)
        (result,) = json.loads(out)["results"]
        assert code == 0 and result["positions"] == 60 and result["simulations"] == 0


def test_evaluate_searches_a_run_with_100_simulations_where_none_are_named(
    plainzero, run_folder, positions_file
):
    options = ("--positions", positions_file, "--sample", "5", "--json")
    results = json.loads(plainzero("evaluate", run_folder, *options).out)["results"]
    assert [result["simulations"] for result in results] == [0, 100]


def test_simulations_beside_an_agent_that_names_its_own_are_refused(refused, run_folder):
    for agent in ("uct:9", f"run:{run_folder}:9"):
        for command in (["evaluate"], ["sweep", "--parameter", "c_puct", "--values", "1"]):
            sentence = refused(*command, agent, *GAME, "--simulations", "100")
            assert "--simulations needs a run's folder" in sentence and agent in sentence


def test_a_network_alone_has_no_search_to_sweep(refused, run_folder):
    arguments = ("--parameter", "c_puct", "--values", "1")
    assert ":0 does not search" in refused("sweep", f"run:{run_folder}:0", *arguments)


def test_evaluate_of_a_search_without_a_network(plainzero, positions_file):
    options = ("--positions", positions_file, "--sample", "30", "--json")
    code, out, _ = plainzero("evaluate", "uct:500", *GAME, *options)
    (result,) = json.loads(out)["results"]
    assert code == 0 and result["positions"] == 30 and result["simulations"] == 500


def test_evaluate_of_othello_endgames_counts_best_moves(plainzero, tmp_path):
    path = tmp_path / "one.obf"
    path.write_text("-OX" + "X" * 61 + " X; A1:+64; \n")
    arguments = ("evaluate", "uct:5", "--game", "othello", "--positions", str(path))
    code, out, _ = plainzero(*arguments)
    assert code == 0 and "move with the best score: 100.0 % (" in out
    (result,) = json.loads(plainzero(*arguments, "--json").out)["results"]
    assert (result["best_move"], result["error_rate"]) == (1.0, 0.0)


def test_yardstick_measures_an_agent(plainzero, refused):
    arguments = ("yardstick", "uct:50", "--game", "dots-and-boxes", "--games", "2")
    code, out, err = plainzero(*arguments)
    assert (code, err) == (0, "") and "target 97 %" in out and "50 positions" in out
    found = json.loads(plainzero(*arguments, "--json").out)
    assert found["sample"] == "50 positions" and 0 <= found["figure"] <= 1
    assert found["yardstick"] == "moves that keep the outcome, decisive positions"
    sentence = refused("yardstick", "random", "--game", "hex(size=6)")
    assert "random gives no value" in sentence


def test_sweep_prints_a_table_and_draws_a_plot(plainzero, run_folder, positions_file, tmp_path):
    plot = tmp_path / "sweep.png"
    code, out, _ = plainzero(
        *("sweep", run_folder, "--parameter", "c_puct", "--values", "0.5,1.25,4"),
        *("--games", "4", "--simulations", "20"),
        *("--positions", positions_file, "--plot", str(plot)),
    )
    assert code == 0 and plot.is_file() and plot.with_suffix(".svg").is_file()
    assert "the default" in out and "errors" in out and "0.5" in out


def test_sweep_as_json(plainzero, run_folder):
    arguments = ("--parameter", "simulations", "--values", "2,50", "--games", "10")
    code, out, _ = plainzero("sweep", run_folder, *arguments, "--simulations", "50", "--json")
    found = json.loads(out)
    assert code == 0 and found["default"] == 50
    assert [row["is_default"] for row in found["values"]] == [False, True]
    assert found["values"][0]["match"]["games"] == 10


def engine(fault):
    """A program that plays tic-tac-toe, well or badly."""
    program = Path(__file__).parents[1] / "protocols" / "fake_engine.py"
    return f"gtp[engines=1]:{shlex.join([sys.executable, '-S', '-E', str(program), fault])}"


def test_match_names_an_engine_that_fails_and_keeps_its_output(plainzero, tmp_path):
    file = tmp_path / "games.jsonl"
    arguments = ("match", "random", engine("crashes"), *GAME, "--games", "4", "--save", str(file))
    code, out, _ = plainzero(*arguments)
    kept = tmp_path / "games.jsonl.faults.txt"
    assert code == 0 and "ended with exit code 3" in out and str(kept) in out.replace("\n", "")
    assert "! bug: index out of range" in kept.read_text()
    found = json.loads(plainzero(*arguments, "--json").out)
    lost = found["lost_by_fault"][1]
    assert found["lost_by_fault"][0] == 0 < lost <= found["wins"]
    assert list(found["faults"][1].values()) == [lost] and found["engine_output"] == str(kept)


def test_rate_takes_engines_and_names_their_faults(plainzero):
    code, out, _ = plainzero("rate", "random", engine(""), engine("crashes"), *GAME, "--games", "6")
    assert code == 0 and "ended with exit code 3" in out and "output" in out
    kept = re.search(r"^output (\S+)", out, re.MULTILINE)[1]
    assert "genmove" in Path(kept).read_text()
    Path(kept).unlink()


def test_a_person_plays_against_an_engine(plainzero):
    typed = "b2\nundo\nc3\n" + "\n".join(f"{col}{row}" for row in "123" for col in "abc") + "\n"
    code, out, err = plainzero("play", "tic-tac-toe", "--opponent", engine(""), typed=typed)
    assert (code, err) == (0, "") and "plays a1" in out
    code, out, _ = plainzero("play", "tic-tac-toe", "--opponent", engine("crashes"), typed=typed)
    assert code == 0 and "forfeits: " in out and "ended with exit code 3" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["match", "uct:10", "random"], "which game?"),
        (["match", "random", "gtp:no-such-program", *GAME], "there is no program"),
        (["match", "uct:10", "rando", *GAME], "unknown agent 'rando'; did you mean random?"),
        (["match", "perfect", "random", "--game", "trio"], "there is no solver for trio"),
        (["match", "uct:5", "random", *GAME, "--save", "no/such/x.jsonl"], "no folder no/such"),
        (["match", "run:nowhere:10", "random"], "there is no run folder nowhere"),
        (["rate", "random", *GAME], "two or more agents"),
        (["rate", "random", "random", *GAME], "is given 2 times"),
        (["evaluate", "nowhere"], "there is no run folder nowhere"),
        (["evaluate", "uct:10", *GAME], "name a file with --positions"),
        (["evaluate", "random", *GAME], "there is no run folder random"),
        (["evaluate", "alphabeta:2", *GAME], "does not search"),
        (["sweep", "uct:9", *GAME, "--parameter", "speed", "--values", "1"], "unknown option"),
        (["sweep", "uct:9", *GAME, "--parameter", "c_uct", "--values", "-1"], "cannot be negative"),
        (["play", "tic-tac-toe", "--opponent", "uct:9", "--seconds", "1"], "belong to the agent"),
        (["play", "tic-tac-toe", "--opponent", "nobody"], "unknown agent 'nobody'"),
        (["play", "trio", "--opponent", "uct:9", "--side", "fourth"], "'fourth'"),
    ],
)
def test_bad_input_is_one_sentence(refused, arguments, words):
    assert words in refused(*arguments)


def test_a_person_plays_against_a_run(plainzero, run_folder):
    typed = "\n".join(f"{col}{row}" for row in "123" for col in "abc") + "\n"
    spec = f"run:{run_folder}:50"
    code, out, err = plainzero("play", "tic-tac-toe", "--opponent", spec, typed=f"hint\n{typed}")
    assert (code, err) == (0, "")
    assert f"{spec} plays" in out and "expects" in out and "hint: " in out
    assert out.rstrip().split("\n")[-1] in ("A draw.", f"{spec} wins.", "You win!")


def test_a_person_loses_or_draws_against_perfect_play_and_gets_hints_from_the_search(plainzero):
    typed = "hint\n" + "\n".join(f"{col}{row}" for row in "321" for col in "bca") + "\n"
    options = ("--opponent", "perfect", "--simulations", "100")
    code, out, _ = plainzero("play", "tic-tac-toe", *options, typed=typed)
    assert code == 0 and "perfect plays" in out and "hint: " in out
    assert out.rstrip().split("\n")[-1] in ("A draw.", "perfect wins.")


def test_help_stays_light():
    import subprocess
    import sys

    program = (
        "import sys; from plainzero.cli.main import main; main(['match', '--help']); "
        "print([m for m in ('torch', 'numba', 'matplotlib', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.rstrip().endswith("[]")
