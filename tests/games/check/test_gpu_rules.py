"""Rules for GPUs: NVIDIA's compiler decides where it is installed, the source elsewhere."""

import inspect

import faulty_games
import pytest
from missing_programs import do_without

from plainzero.compiler.gpu_ptx import missing_compiler
from plainzero.games.check import gpu_rules
from plainzero.games.check.problems import Problem, Problems

FOUND_IN_THE_SOURCE = {
    "BuildsAList": "play builds a list; use a field of fixed size, or a tuple",
    "BuildsADict": "play builds a dict; use a field of fixed size, or a tuple",
    "ComparesTexts": "play uses a string; compare a number instead",
    "RaisesATextWithANumber": "play raises or catches an error",
    "MakesATemporaryArray": "play computes with the whole array board; write the loop",
    "CallsNumPy": "play calls np.count_nonzero; for one number use math",
}


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def compiler(pytestconfig):
    if missing_compiler():
        do_without(pytestconfig, missing_compiler())


@pytest.fixture
def without_compiler(monkeypatch):
    monkeypatch.setattr(gpu_rules, "missing_compiler", lambda: "it is not installed")


def found(game) -> list[Problem]:
    problems = Problems(game)
    gpu_rules.check_gpu(problems)
    return list(problems)


@pytest.mark.usefixtures("without_compiler")
@pytest.mark.parametrize("name", FOUND_IN_THE_SOURCE)
def test_without_the_compiler_the_source_decides(name):
    cls = getattr(faulty_games, name)
    (problem,) = found(cls())
    lines, first = inspect.getsourcelines(cls)
    line = first + next(i for i, text in enumerate(lines) if "# fault" in text)
    assert (problem.kind, problem.severity) == ("gpu", "cpu only")
    assert FOUND_IN_THE_SOURCE[name] in problem.message
    assert f"(faulty_games.py, line {line})" in problem.message


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("name", ["ComparesTexts", "CallsNumPy"])
def test_what_the_compiler_accepts_is_no_problem_whatever_the_source_looks_like(name):
    assert found(getattr(faulty_games, name)()) == []


@pytest.mark.usefixtures("compiler")
def test_what_the_compiler_refuses_is_explained_by_the_source():
    (problem,) = found(faulty_games.MakesATemporaryArray())
    assert FOUND_IN_THE_SOURCE["MakesATemporaryArray"] in problem.message


class HarmlessTextInAnotherRule(faulty_games.TemporaryInAHelper):
    kind: str = "free"

    def legal_actions(self, state, actions):
        return super().legal_actions(state, actions) if self.kind == "free" else 0


@pytest.mark.usefixtures("compiler")
def test_a_rule_that_the_compiler_accepts_explains_nothing():
    (problem,) = found(HarmlessTextInAnotherRule())
    assert "play does not compile there (faulty_games.py" in problem.message
