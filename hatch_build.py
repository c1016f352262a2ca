"""Puts the page into the package when it is built or installed, where Node.js is there for it."""

import importlib.util
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    """Builds the page before the package's files are collected."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the page; after a failure there is none in the package, and the server says so."""
        path = Path(self.root) / "web" / "build_page.py"
        if not path.is_file():
            return
        spec = importlib.util.spec_from_file_location("build_page", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        try:
            self.app.display_info(module.build())
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"the page was not built: {error}")
