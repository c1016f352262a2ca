"""Requests that nobody thought of: every route of the OpenAPI document, with Schemathesis."""

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
ROUTES = 19  # of the API; one more must be counted here, so that none is left out


def test_no_request_makes_the_server_fail(api_schema):
    operations = [found.ok() for found in api_schema.get_all_operations()]
    assert len(operations) == ROUTES
    for operation in operations:
        answers = send_anything(operation)
        assert answers and max(answers) < 500, (operation.label, answers)


def send_anything(operation):
    """The status codes of answers to requests drawn for one route; refusals have a sentence."""
    answers = set()

    @given(
        case=operation.as_strategy(),
        game=st.sampled_from([None, "tic-tac-toe", "connect-four(rows=4,cols=5)", "2048", "trio"]),
        moves=st.lists(st.integers(0, 4), max_size=6, unique=True),
    )
    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=SLOW,
    )
    def send(case, game, moves):
        _make_sensible(case.body, game, moves)
        response = case.call()
        answers.add(response.status_code)
        assert response.status_code < 500, response.text
        if response.status_code >= 400:
            assert response.json()["message"]

    send()
    return answers


def _make_sensible(body, game, moves):
    """Names a game that there is and moves that may be legal, so that more than names is tried."""
    if game is None or not isinstance(body, dict):
        return
    for holder in (body, body.get("position")):
        if isinstance(holder, dict) and "game" in holder:
            holder |= {"game": game, "moves": moves} if "position" in body else {"game": game}
    if isinstance(body.get("position"), dict):
        body["position"].pop("setup", None)
