"""What a test does if the program that it needs is missing."""

import pytest


def do_without(config, reason):
    """Skips the test; with --needs-all, it fails."""
    (pytest.fail if config.getoption("--needs-all") else pytest.skip)(reason)
