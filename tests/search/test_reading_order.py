"""The docstring of `plainzero.search` lists every module, and kernels import no host code."""

import ast
import re
from pathlib import Path

import plainzero.search

FOLDER = Path(plainzero.search.__file__).parent


def test_the_reading_order_names_every_module():
    named = set(re.findall(r"`([\w.]+)`", plainzero.search.__doc__))
    modules = {
        ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        for path in (*FOLDER.glob("*.py"), *FOLDER.glob("kernels/*.py"))
        if path.stem != "__init__"
    }
    assert modules - named == set()
    assert "gpu" in named


def test_kernels_import_only_kernels_from_the_search():
    for path in FOLDER.glob("kernels/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("plainzero.search"):
                assert node.module.startswith("plainzero.search.kernels"), (path.name, node.module)
