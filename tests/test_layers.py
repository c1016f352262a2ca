"""A folder imports only from those that stand above it in the design's list."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "plainzero"
# From the bottom up; what stands on one line may import from each other.
LAYERS = (
    (
        "binding",
        "compiling",
        "counting",
        "cuda_compiling",
        "cuda_sources",
        "devices",
        "files",
        "inner_code",
        "records",
        "settings",
        "settling",
    ),
    ("games",),
    ("search",),
    ("networks",),
    ("selfplay",),
    ("training",),
    ("opponents",),
    ("arena",),
    ("bridges",),
    ("cluster",),
    ("server",),
    ("cli",),
)
LEVELS = {name: level for level, names in enumerate(LAYERS) for name in names}
BEYOND_ARENA = {"bridges", "cluster", "server", "cli"}


def imports_of(path: Path) -> set[str]:
    """The full names of modules that a file imports anywhere; `from a import b` is a and a.b."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively; name the module in full"
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


def public_homes() -> dict[str, str]:
    """Which folder each name of `plainzero` itself comes from."""
    from plainzero import _HOMES

    return {f"plainzero.{name}": home.split(".")[0] for name, home in _HOMES.items()}


def violations(source: str, layer: str, path: Path) -> list[str]:
    """What the file imports that stands above its own layer."""
    path.write_text(source)
    return _violations(path, layer)


def _violations(path: Path, layer: str) -> list[str]:
    found = []
    for name in sorted(imports_of(path)):
        if name.split(".")[0] == "ray" and layer != "cluster":
            found.append(f"{path.name} imports ray; only cluster may")
        if not name.startswith("plainzero."):
            continue
        folder = public_homes().get(name, name.split(".")[1])
        if folder not in LEVELS:
            continue  # a name of the package itself, such as __version__
        is_upward = LEVELS[folder] > LEVELS[layer]
        is_beyond = folder in BEYOND_ARENA - {layer} and layer not in ("cli", "server")
        if is_upward or is_beyond:
            found.append(f"{layer}/{path.name} imports {name}")
    return found


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_module_has_a_layer():
    layers = {layer_of(path) for path in PACKAGE.rglob("*.py")} - {"__init__"}
    assert {"compiling", "games", "search", "cli"} <= layers <= LEVELS.keys()


def test_nothing_imports_from_above():
    files = [path for path in PACKAGE.rglob("*.py") if layer_of(path) != "__init__"]
    assert len(files) > 20
    assert [line for path in files for line in _violations(path, layer_of(path))] == []


def test_the_package_itself_loads_nothing():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    loaded = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name for node in loaded if isinstance(node, ast.Import) for name in node.names}
    assert names == {"importlib", "sys", "types"}
    assert {node.module for node in loaded if isinstance(node, ast.ImportFrom)} == {"typing"}


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("games", "from plainzero.search import cpu"),
        ("games", "from plainzero import search"),
        ("compiling", "import plainzero.games.contract"),
        ("search", "def f():\n    from plainzero.cli.main import app"),
        ("arena", "import plainzero.server"),
        ("arena", "from plainzero.bridges import to_pettingzoo"),
        ("cluster", "import plainzero.bridges"),
        ("cluster", "from plainzero.server import app"),
        ("training", "import ray"),
    ],
)
def test_a_planted_import_is_found(tmp_path, layer, source):
    assert violations(source, layer, tmp_path / "planted.py")


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("search", "from plainzero.games.contract import Game"),
        ("cli", "from plainzero.cli import drawing"),
        ("bridges", "from plainzero.opponents.search_agent import parse_agent"),
        ("server", "from plainzero.cluster.workers import start"),
        ("cluster", "import ray"),
    ],
)
def test_an_import_from_below_is_allowed(tmp_path, layer, source):
    assert violations(source, layer, tmp_path / "planted.py") == []
