"""The gate: weights that it refuses are kept on disk and do not play, now or after a restart."""

import numpy as np
import pytest
from tiny_runs import SETTINGS

from plainzero import make_game
from plainzero.selfplay.shards import list_shards, read_shard
from plainzero.training.function_assessor import FunctionAssessor
from plainzero.training.loop import Limits, Run
from plainzero.training.metrics import read_metrics
from plainzero.training.run_folder import RunFolder
from plainzero.training.saved_run import STRENGTH_SIMULATIONS, open_run
from plainzero.training.settings import change, default_config, resolve_run

GAME = make_game("tic-tac-toe")


class Silence:
    def on_selfplay(self, *_):
        pass

    def on_learning(self, *_):
        pass

    def on_generation(self, *_):
        pass


@pytest.fixture
def folder(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.make()
    settings = [f"{name}={value}" for name, value in SETTINGS.items()]
    config = change(default_config(GAME), [*settings, "run.gate=true", "run.threads=1"])
    folder.write_config(resolve_run(config, GAME), GAME, "tic-tac-toe")
    return folder


def go_on(folder, generations, answers):
    """Runs up to `generations` generations in total; the gate answers in turn."""
    asked, (config, _) = [], folder.read_config()

    seeds = set()

    def gate(new, old, search, seed):
        assert seed not in seeds, "the gate would play the same openings again"
        seeds.add(seed)
        asked.append((new(PLANES)[0], old(PLANES)[0], search))
        return answers.pop(0)

    run = Run(folder, config, GAME, gate=gate)
    run.go(Limits(generations=generations), Silence())
    return run, asked


PLANES = np.stack([GAME.observation(GAME.new_state())])


def playing(run):
    return run._generator.evaluators[0](PLANES)[0]


def test_refused_weights_do_not_play(folder):
    run, asked = go_on(folder, 3, [True, False, False])
    first, second, third = folder.steps()[1:]
    assert run.counters.playing_step == first
    np.testing.assert_array_equal(playing(run), asked[0][0])  # what was new then
    for _, old, search in asked[1:]:
        np.testing.assert_array_equal(old, asked[0][0])
        assert search.noise_weight == 0
    assert not np.array_equal(asked[1][0], asked[2][0])
    assert folder.steps() == [0, first, second, third]
    steps = [
        {record.last_step for record in read_shard(GAME, shard)}
        for shard in list_shards(folder.games)
    ]
    assert steps == [{0}, {first}, {first}]


def test_a_restart_plays_with_the_same_weights(folder):
    _, asked = go_on(folder, 2, [True, False])
    run, again = go_on(folder, 3, [False])
    assert run.counters.playing_step == folder.steps()[1]
    np.testing.assert_array_equal(again[0][1], asked[0][0])
    np.testing.assert_array_equal(playing(run), asked[0][0])
    saved = open_run(folder.path)
    np.testing.assert_array_equal(saved.evaluator(backend="torch")(PLANES)[0], asked[0][0])
    latest = saved.evaluator(saved.steps[-1], "torch")(PLANES)[0]
    np.testing.assert_array_equal(latest, again[0][0])


def test_the_weights_that_play_are_not_pruned(folder, tmp_path):
    text = folder.config_file.read_text().replace("keep_weights = 0", "keep_weights = 1")
    folder.config_file.write_text(text)
    run, _ = go_on(folder, 4, [True, False, False, False])
    assert folder.steps() == [run.counters.playing_step, run.learner.step]


def test_accepted_weights_play(folder):
    run, asked = go_on(folder, 2, [True, True])
    assert run.counters.playing_step == folder.steps()[-1]
    np.testing.assert_array_equal(playing(run), asked[1][0])


class Elsewhere:
    """Says which step it was asked about last."""

    def __init__(self, folder):
        self.folder, self.asked, self.waited, self.is_busy = folder, [], 0, False

    def ask(self, step):
        assert step in self.folder.steps()
        self.asked.append(step)

    def found(self, waits=False):
        self.waited += waits
        return {"rating": float(self.asked[-1])}


def assessed_run(path, seconds):
    """The folder and config of a run that is assessed so often."""
    folder = RunFolder(path)
    folder.make()
    settings = [f"{name}={value}" for name, value in SETTINGS.items()]
    settings += ["run.threads=1", f"run.assess_seconds={seconds}"]
    config = resolve_run(change(default_config(GAME), settings), GAME)
    folder.write_config(config, GAME, "tic-tac-toe")
    return folder, config


def test_strength_is_asked_for_elsewhere_of_weights_that_are_on_disk(tmp_path):
    folder, config = assessed_run(tmp_path / "run", 1000.0)
    elsewhere = Elsewhere(folder)
    Run(folder, config, GAME, assessor=elsewhere).go(Limits(generations=3), Silence())
    first, second, last = read_metrics(folder.metrics_file)
    assert elsewhere.asked == [first["step"], last["step"]]
    assert elsewhere.waited == 1
    assert first["rating"] == second["rating"] == first["step"]
    assert last["rating"] == last["step"]


def test_nothing_is_asked_while_an_answer_is_waited_for_but_for_the_last(tmp_path):
    folder, config = assessed_run(tmp_path / "run", 0.001)
    elsewhere = Elsewhere(folder)
    elsewhere.is_busy, elsewhere.found = True, lambda waits=False: {}
    run = Run(folder, config, GAME, assessor=elsewhere)
    run.go(Limits(generations=3), Silence())
    assert elsewhere.asked == [run.learner.step]


def test_a_function_measures_the_weights_that_play(folder):
    folder.config_file.write_text(
        folder.config_file.read_text().replace("assess_seconds = 0.0", "assess_seconds = 0.001")
    )
    config, _ = folder.read_config()
    seen = []

    def measure(evaluator, search):
        seen.append((evaluator(PLANES)[0], search.simulations))
        return {"rating": float(len(seen))}

    answers = [True, False]
    run = Run(
        folder,
        config,
        GAME,
        assessor=FunctionAssessor(measure, open_run(folder.path)),
        gate=lambda *_: answers.pop(0),
    )
    run.go(Limits(generations=2), Silence())
    assert [line["rating"] for line in read_metrics(folder.metrics_file)] == [1.0, 2.0]
    for logits, simulations in seen:
        np.testing.assert_array_equal(logits, playing(run))
        assert simulations == STRENGTH_SIMULATIONS
