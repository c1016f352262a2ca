"""The package: its public names, and that importing it loads nothing heavy."""

import importlib.metadata
import inspect
import json
import pickle
import subprocess
import sys

import pytest

import plainzero


def in_new_process(program: str) -> str:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_public_names_are_those_of_the_design():
    design = {"Game", "field", "CHANCE", "make_game", "check_game", "search", "SearchConfig"}
    assert design <= set(plainzero.__all__)
    assert all(getattr(plainzero, name) is not None for name in plainzero.__all__)
    assert set(plainzero.__all__) <= set(dir(plainzero))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'plainzero' has no attribute 'serach'"):
        plainzero.serach  # noqa: B018


IMPORTS = [
    "import plainzero.search.config as c",
    "import plainzero.search.api, plainzero.games",
    "from plainzero.search.runner import StopFlag",
    "from plainzero import search",
    "import plainzero",
]


@pytest.mark.slow
@pytest.mark.parametrize("first", IMPORTS)
@pytest.mark.parametrize("second", IMPORTS)
def test_search_is_a_folder_and_a_function_in_whatever_order_things_are_imported(first, second):
    program = (
        f"{first}\n{second}\n"
        "import plainzero\nfrom plainzero import search\n"
        "import plainzero.search.config as config\n"
        "assert config.SearchConfig is plainzero.SearchConfig\n"
        "print(callable(search), plainzero.search is search)"
    )
    assert in_new_process(program) == "True True\n"


def test_calling_the_folder_searches():
    game = plainzero.make_game("tic-tac-toe")
    config = plainzero.SearchConfig(simulations=8)
    result = plainzero.search(game, game.new_state(), config=config)
    assert isinstance(result, plainzero.SearchResult) and result.visits.sum() == 8
    assert list(inspect.signature(plainzero.search).parameters)[:2] == ["game", "states"]
    assert pickle.loads(pickle.dumps(plainzero.search)) is plainzero.search


def test_importing_the_package_loads_nothing_heavy():
    loaded = json.loads(
        in_new_process("import sys, json, plainzero; print(json.dumps(sorted(sys.modules)))")
    )
    assert "plainzero" in loaded
    heavy = {"numpy", "numba", "llvmlite", "rich", "typer", "torch", "plainzero.games"}
    assert not heavy & set(loaded)


def test_installed_version_is_the_sources():
    try:
        installed = importlib.metadata.version("plainzero")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("run from the sources, without being installed")
    assert installed == plainzero.__version__
