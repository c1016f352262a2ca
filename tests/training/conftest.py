"""A process that runs `plainzero` again and again without starting anew."""

import pytest
from tiny_runs import RunServer


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    server = RunServer(tmp_path_factory.mktemp("server") / "output")
    yield server
    server.close()
