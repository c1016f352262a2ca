"""A folder depends only on those above it in the design, and `gpu` folders on few outside."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "plainzero"
# From the bottom up; modules on one line may import each other.
LAYERS = (
    ("operating_system",),
    ("devices", "options", "atomic_files"),
    ("compiler",),
    ("games",),
    ("search",),
    ("networks",),
    ("targets",),
    ("selfplay",),
    ("training",),
    ("cluster",),
    ("opponents",),
    ("protocols",),
    ("arena",),
    ("bridges",),
    ("server",),
    ("bench",),
    ("cli",),
)
LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}
BEYOND_ARENA = {"bridges", "cluster", "server", "cli"}
DEVICE_CHOOSERS = {
    "search/api.py",
    "networks/network_evaluators.py",
    "training/choose_device.py",
    "training/precompile.py",
    "arena/error_curve.py",
    "bench/gpu_rates.py",
}
"""Outside of `gpu` folders, only these import from them."""
PROGRAMS = {
    ("server/runs/exit_with_parent.py", "plainzero.cli"),
    ("bench/learning.py", "plainzero.cli"),
}
"""Modules that start another program name it, and import nothing from it."""

MODULE = re.compile(r"plainzero(\.\w+)+")
FILE = re.compile(r"(?:src/plainzero/)?([a-z_]+/[\w*/]+(?:\.py)?)")


def imports_of(tree: ast.Module) -> set[str]:
    """The full names of modules that a file imports anywhere; `from a import b` is a and a.b."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import; name the module in full"
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def names_in_strings(tree: ast.Module) -> set[str]:
    """The full names of our modules that stand in strings, as names or as (patterns of) paths.

    Docstrings are prose and may point anywhere.
    """
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) in prose:
            continue
        if module := MODULE.match(node.value):
            found.add(module[0])
        elif (file := FILE.fullmatch(node.value)) and any(PACKAGE.glob(file[1])):
            found.add("plainzero." + file[1].removesuffix(".py").replace("/", "."))
    return found


def public_homes() -> dict[str, str]:
    """The module of each name of `plainzero` itself."""
    from plainzero import _HOMES

    return {f"plainzero.{name}": f"plainzero.{home}" for name, home in _HOMES.items()}


def violations(source: str, path: str) -> list[str]:
    """What a file with that path in the package must not depend on, but does."""
    tree, layer, found = ast.parse(source), layer_of(path), []
    for name in sorted(imports_of(tree) | names_in_strings(tree)):
        if name.split(".")[0] == "ray" and layer != "cluster":
            found.append(f"{path} imports ray; only cluster may")
        if name.startswith("plainzero.") and (path, name) not in PROGRAMS:
            parts = public_homes().get(name, name).split(".")[1:]
            if is_forbidden(parts, path, layer):
                found.append(f"{path} depends on {name}")
    return found


def is_forbidden(parts: list[str], path: str, layer: str) -> bool:
    folder = parts[0]
    if folder not in LEVELS:
        return False  # a name of the package itself, such as __version__
    if "gpu" in parts and "gpu" not in path.split("/") and path not in DEVICE_CHOOSERS:
        return True
    is_beyond = folder in BEYOND_ARENA - {layer} and layer not in ("cli", "server")
    return LEVELS[folder] > LEVELS[layer] or is_beyond


def layer_of(path: str) -> str:
    return path.split("/")[0].removesuffix(".py")


def modules() -> list[str]:
    """The paths of all modules in the package, but its own."""
    paths = (str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py"))
    return sorted(path for path in paths if path != "__init__.py")


def test_every_module_has_a_layer():
    layers = {layer_of(path) for path in modules()}
    assert {"compiler", "games", "search", "cli"} <= layers <= LEVELS.keys()


def test_no_module_depends_on_what_it_must_not():
    found = [line for path in modules() for line in violations((PACKAGE / path).read_text(), path)]
    assert found == []


@pytest.mark.parametrize("path", sorted(DEVICE_CHOOSERS))
def test_each_chooser_of_a_device_needs_its_permission(path):
    names = imports_of(ast.parse((PACKAGE / path).read_text()))
    assert any("gpu" in name.split(".") for name in names)


def test_the_package_itself_loads_nothing():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    loaded = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name for node in loaded if isinstance(node, ast.Import) for name in node.names}
    assert names == {"importlib"}
    assert {node.module for node in loaded if isinstance(node, ast.ImportFrom)} == {"typing"}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("games/planted.py", "from plainzero.search import cpu"),
        ("games/check/planted.py", "from plainzero.search import cpu"),
        ("games/planted.py", "from plainzero import search"),
        ("compiler/planted.py", "import plainzero.games.contract"),
        ("search/kernels/planted.py", "def f():\n    from plainzero.cli.main import app"),
        ("arena/planted.py", "import plainzero.server"),
        ("arena/planted.py", "from plainzero.bridges import to_pettingzoo"),
        ("protocols/gtp/planted.py", "from plainzero.arena.match import play_match"),
        ("bench/planted.py", "from plainzero.cli import main"),
        ("cluster/planted.py", "import plainzero.bridges"),
        ("cluster/planted.py", "from plainzero.server import app"),
        ("training/planted.py", "import ray"),
        ("training/planted.py", "from plainzero.training.gpu.learner import GpuLearner"),
        ("training/planted.py", "from plainzero.training import gpu"),
        ("training/doctor/planted.py", "import plainzero.selfplay.gpu.worker"),
        ("cli/planted.py", "def f():\n    from plainzero.search.gpu import runner"),
        ("search/gpu/planted.py", "from plainzero.networks.gpu.backend import GpuNetworkEvaluator"),
        ("games/planted.py", 'FILES = ("compiler/*.py", "selfplay/*.py")'),
        ("games/planted.py", 'FILE = "search/kernels/tree.py"'),
        ("games/planted.py", 'FILE = "src/plainzero/search/kernels/tree.py"'),
        ("training/planted.py", 'importlib.import_module("plainzero.arena.match")'),
        ("training/planted.py", 'importlib.import_module(f"plainzero.arena.{name}")'),
        ("training/planted.py", 'PROGRAM = "plainzero.selfplay.gpu.compile_worker"'),
    ],
)
def test_a_planted_dependency_is_found(path, source):
    assert violations(source, path)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("search/planted.py", "from plainzero.games.contract import Game"),
        ("cli/planted.py", "from plainzero.cli import drawing"),
        ("bridges/planted.py", "from plainzero.arena.agent_specs import parse_agent"),
        ("server/api/planted.py", "from plainzero.cluster.workers import start"),
        ("cluster/planted.py", "import ray"),
        ("training/gpu/planted.py", "from plainzero.selfplay.gpu.worker import GpuWorker"),
        ("training/choose_device.py", "from plainzero.training.gpu.learner import GpuLearner"),
        ("games/planted.py", '"""See search/kernels/tree.py and plainzero.search."""'),
        ("games/planted.py", 'RATE = "games/s"\nURL = "server/nothing"\nNAME = "plainzero.token."'),
        ("selfplay/planted.py", 'FILES = "search/**/*.py"'),
    ],
)
def test_an_allowed_dependency_is_not(path, source):
    assert violations(source, path) == []
