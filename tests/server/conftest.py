"""A server in this process, with small limits and a run."""

import pytest
import schemathesis
from small_runs import copy_finished

from plainzero.server.api.schemas.games import Limits
from plainzero.server.app import make_app
from plainzero.server.options import ServerOptions
from plainzero.server.services import Services

SMALL = Limits(simulations=2000, seconds=20.0, nodes=2000, depth=4, body_bytes=100_000)


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    """What all requests share, with a run of tic-tac-toe."""
    home = tmp_path_factory.mktemp("runs")
    copy_finished(tmp_path_factory, home / "finished")
    options = ServerOptions(home=home, can_train=False, limits=SMALL, names=("testserver",))
    services = Services(options)
    yield services
    services.close()


@pytest.fixture(scope="module")
def app(services):
    """The whole server, guard and all."""
    return make_app(services)


@pytest.fixture(scope="module")
def api_schema(app):
    """Its OpenAPI document, as Schemathesis reads it."""
    return schemathesis.openapi.from_asgi("/openapi.json", app)
