"""What the tests of the page have in common besides fixtures."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"


def do_without(config, reason):
    """Skips the test; with --needs-browser, what is missing is a failure."""
    (pytest.fail if config.getoption("--needs-browser") else pytest.skip)(reason)
