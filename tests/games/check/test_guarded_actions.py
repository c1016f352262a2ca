"""Actions that a rule writes: one too many is detected, whichever rule writes it."""

import pytest

from plainzero.games.check.guarded_actions import exceeds_room, guarded_actions


@pytest.mark.parametrize(
    ("places", "count", "exceeds"),
    [
        ([], 0, False),
        ([0, 1, 2], 3, False),
        ([0, 1, 2, 3], 3, True),  # written behind the room, not counted
        ([0, 1, 2], 4, True),  # counted, not written
        ([60], 1, True),
        ([], -1, True),
    ],
)
def test_what_does_not_fit_is_detected(places, count, exceeds):
    actions = guarded_actions(3)
    actions[places] = 0
    assert exceeds_room(actions, count, 3) == exceeds
