"""Puts the page into the package when it is built or installed.

Without the page, a wheel or sdist is built only if PLAINZERO_WITHOUT_PAGE=1 allows it. An editable
install always works; its server says that the page was not built.
"""

import importlib.util
import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WITHOUT_PAGE = "PLAINZERO_WITHOUT_PAGE"


class PageHook(BuildHookInterface[Any]):
    """Builds the page before the package's files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the page.

        Raises:
            RuntimeError: when it cannot be built and the package may not do without.
        """
        result = _build_page(Path(self.root) / "web" / "build_page.py")
        if (Path(self.root) / "src" / "plainzero" / "server" / "page" / "index.html").is_file():
            self.app.display_info(result)
        elif version == "editable" or os.environ.get(WITHOUT_PAGE) == "1":
            self.app.display_warning(f"{result}; the package has no page")
        else:
            raise RuntimeError(f"{result}, or set {WITHOUT_PAGE}=1 for a package without the page")


def _build_page(script: Path) -> str:
    """What the script did, or why it could not."""
    spec = importlib.util.spec_from_file_location("build_page", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        return str(module.build())
    except (OSError, subprocess.CalledProcessError) as error:
        return f"building the page failed ({error}); mend that"
