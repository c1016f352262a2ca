"""The package: its public names, and that importing it loads nothing heavy."""

import importlib.metadata
import json
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


@pytest.mark.parametrize(
    "before",
    [
        "",
        "import plainzero.search.config",
        "import plainzero.search.api, plainzero.games",
        "from plainzero.search.runner import StopFlag",
    ],
)
def test_search_is_the_function_whatever_was_imported_before(before):
    program = f"{before}\nfrom plainzero import search\nprint(callable(search), search.__module__)"
    assert in_new_process(program) == "True plainzero.search.api\n"


def test_search_stays_the_function_when_its_folder_is_imported_after():
    program = "from plainzero import search\nimport plainzero.search.config\nprint(plainzero.search is search)"
    assert in_new_process(program) == "True\n"


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
