"""Engines may take as long to exit as a busy machine needs."""

import pytest


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Waits longer than users do for an engine to exit after it closed its output."""
    monkeypatch.setattr("plainzero.protocols.engine_process._PATIENCE", 300.0)
