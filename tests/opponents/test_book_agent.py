"""Agents with an opening book never give away a win or a draw while the book knows."""

import itertools

import numpy as np
import pytest

from plainzero import SearchConfig, make_game
from plainzero.opponents.agent import GameHistory
from plainzero.opponents.book_agent import BookAgent
from plainzero.opponents.connect_four.opening_book import BOOK_GAME, BOOK_PLIES, load_opening_book
from plainzero.opponents.search_agent import SearchAgent
from plainzero.opponents.timed_moves import choose_in_time

BOOK = load_opening_book()


class Lowest:
    """Plays the lowest legal action."""

    name = "lowest"

    def choose(self, states, seed):
        return [min(BOOK_GAME.legal(state)) for state in states]


def all_positions(plies):
    """The unfinished positions after up to `plies` moves, by every order of moves once."""
    found = {}
    for length in range(plies + 1):
        for moves in itertools.product(range(BOOK_GAME.num_actions), repeat=length):
            state = BOOK_GAME.new_state()
            for action in moves:
                BOOK_GAME.apply(state, action)
            found[state.tobytes()] = state
    return list(found.values())


@pytest.fixture(scope="module")
def known(random_positions):
    """All positions of plies 0 to 3, and random ones of plies 4 to 7."""
    later = [random_positions(BOOK_GAME, 60, ply, seed=ply) for ply in range(4, BOOK_PLIES)]
    return all_positions(3) + list(itertools.chain(*later))


def value_of(state):
    """The outcome for the player to move, straight from the book's file."""
    own, occupied = state.stones[state.to_play], state.stones[0] | state.stones[1]
    ply = int(np.bitwise_count(occupied))
    position = np.array([own], np.uint64), np.array([occupied], np.uint64)
    return int(BOOK.find(ply, *position)[0])


def keeps_outcome(state, action):
    after = BOOK_GAME.copy(state)
    BOOK_GAME.apply(after, action)
    if after.is_over:
        return int(after.returns[state.to_play]) == value_of(state)
    return -value_of(after) == value_of(state)


def test_a_weak_search_errs_and_never_with_the_book(known):
    weak = SearchAgent("weak", BOOK_GAME, "rollout", SearchConfig(simulations=10))
    alone, together = weak.choose(known, 3), BookAgent("both", weak, BOOK_GAME).choose(known, 3)
    kept = np.array([keeps_outcome(*pair) for pair in zip(known, alone, strict=True)])
    assert len(known) > 500 and 0.1 < kept.mean() < 0.9
    assert all(keeps_outcome(*pair) for pair in zip(known, together, strict=True))
    assert ((np.array(alone) == together) == kept).all()  # good moves are its own


def test_moves_after_the_book_are_the_agents_own(random_positions):
    states = random_positions(BOOK_GAME, 20, BOOK_PLIES, seed=1)
    assert BookAgent("both", Lowest(), BOOK_GAME).choose(states, 0) == Lowest().choose(states, 0)


def test_equal_moves_of_the_book_are_chosen_by_the_seed(known):
    agent = BookAgent("both", Lowest(), BOOK_GAME)
    choices = [agent.choose(known, seed) for seed in (1, 2)]
    assert choices[0] == agent.choose(known, 1) != choices[1]


def test_the_book_also_corrects_moves_against_the_clock():
    weak = SearchAgent("weak", BOOK_GAME, "uniform", SearchConfig(simulations=1))
    history = GameHistory(0, [], [], BOOK_GAME.new_state())
    for agent in (weak, Lowest()):
        assert choose_in_time(BookAgent("both", agent, BOOK_GAME), history, 0, 0.001) == 3


@pytest.mark.parametrize("name", ["tic-tac-toe", "connect-four(rows=5)"])
def test_other_games_have_no_book(name):
    with pytest.raises(ValueError, match=r"^uct:9,book: there is no opening book for .*, only for"):
        BookAgent("uct:9,book", Lowest(), make_game(name))
