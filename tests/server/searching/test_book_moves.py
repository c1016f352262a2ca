"""The opening book corrects the moves that the server's searches play, and the answer says so."""

import pytest

from plainzero import make_game
from plainzero.search.runner import StopFlag
from plainzero.server.api.schemas.searching import SearchAgent
from plainzero.server.options import ServerOptions
from plainzero.server.searching.scheduler import Slot, SlotQueue
from plainzero.server.services import Services

CONNECT_FOUR = make_game("connect-four")
ERRING = [4, 6, 1]  # after these moves the network's own move, with one simulation, loses a draw


@pytest.fixture
def services(tmp_path):
    services = Services(ServerOptions(home=tmp_path / "runs", can_train=False))
    yield services
    services.close()


def answer_of(services, game, state, **options):
    agent = SearchAgent(simulations=1, **options)
    with Slot(SlotQueue(1), "somebody", StopFlag()) as slot:
        return services.agents.answer(game, state, agent, 0, slot)


def test_the_book_replaces_a_worse_move(services):
    answer = answer_of(services, CONNECT_FOUR, CONNECT_FOUR.new_state(), book=True)
    assert (answer.action, answer.name) == (3, "4")
    assert (answer.analysis.best, answer.analysis.book.action) == (0, 3)


@pytest.mark.parametrize("book", [None, False])
def test_searches_without_a_network_use_it_on_request_only(services, book):
    answer = answer_of(services, CONNECT_FOUR, CONNECT_FOUR.new_state(), book=book)
    assert (answer.action, answer.analysis.book) == (0, None)


def test_the_bundled_network_uses_it_unless_told_otherwise(services):
    pytest.importorskip("torch")
    state = CONNECT_FOUR.new_state()
    for action in ERRING:
        CONNECT_FOUR.apply(state, action)
    alone, default = (
        answer_of(services, CONNECT_FOUR, state, evaluator="bundled", book=book)
        for book in (False, None)
    )
    assert alone.analysis.book is None and alone.action == alone.analysis.best
    assert default.analysis.best == alone.action != default.action
    assert default.analysis.book.action == default.action


def test_other_games_refuse_it(services):
    game = make_game("tic-tac-toe")
    with pytest.raises(ValueError, match="there is no opening book for tic-tac-toe"):
        answer_of(services, game, game.new_state(), book=True)
    assert answer_of(services, game, game.new_state()).analysis.book is None
