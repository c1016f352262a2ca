"""Requests that nobody thought of: every route of the OpenAPI document, with Schemathesis.

What Schemathesis draws from the schema alone is mostly refused at the door; so most requests get
positions, players and names that there are, now and then spoiled.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sensible_requests import HEADERS, make_sensible, parts

pytestmark = pytest.mark.slow

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
ROUTES = 22  # of the API; one more must be counted here, so that none is left out
REFUSED = (
    "POST /api/runs",
    "POST /api/runs/{run}/stop",
    "POST /api/runs/{run}/resume",
    "POST /api/ladder",
)


def test_no_request_makes_the_server_fail(api_schema, services):
    operations = [found.ok() for found in api_schema.get_all_operations()]
    assert len(operations) == ROUTES
    for operation in operations:
        answers = send_anything(operation, str(services.options.home))
        wanted = {422} if operation.label in REFUSED else {200}  # this server does not train
        assert wanted <= answers and max(answers) < 500, (operation.label, answers)


def send_anything(operation, home):
    """The status codes of answers to requests drawn for one route; refusals have a sentence."""
    answers = set()

    @given(case=operation.as_strategy(), parts=parts(), headers=st.sampled_from(HEADERS))
    @settings(
        max_examples=40,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=SLOW,
    )
    def send(case, parts, headers):
        make_sensible(case, parts)
        response = case.call(headers=headers, timeout=None)  # by default 10 seconds
        answers.add(response.status_code)
        assert response.status_code < 500, response.text
        assert home not in response.text
        if response.status_code >= 400:
            sentence = response.json()["message"]
            assert sentence and "\n" not in sentence

    send()
    return answers
