"""How visits are shared among the outcomes of chance."""

import math

import pytest

from plainzero import CHANCE, SearchConfig, make_game, search

PIG = make_game("pig")


def chance_nodes(result):
    """The visits of the outcomes of each chance node, each with its probability."""
    waiting = [0]
    while waiting:
        node = waiting.pop()
        edges = result.tree.edges(node)
        waiting += [edge.child for edge in edges if edge.child is not None]
        if result.tree.state(node).to_play == CHANCE:
            yield [(edge.visits, edge.prior) for edge in edges]


def excess(outcomes):
    """By how many visits the most favoured outcome exceeds its share, rounded up."""
    total = sum(visits for visits, _ in outcomes)
    return max(visits - math.ceil(p * total - 1e-6) for visits, p in outcomes)


@pytest.mark.parametrize("leaves", [1, 8])
def test_no_outcome_is_visited_more_often_than_its_share(leaves):
    config = SearchConfig(simulations=500, leaves=leaves)
    found = list(chance_nodes(search(PIG, PIG.new_state(), config=config, seed=1)))
    assert len(found) > 20
    assert max(map(excess, found)) == 0
    drawn = SearchConfig(simulations=500, leaves=leaves, chance="drawn")
    assert max(map(excess, chance_nodes(search(PIG, PIG.new_state(), config=drawn, seed=1)))) > 2


def test_rare_outcomes_are_visited_too():
    game = make_game("2048")
    state = game.new_state()
    while state.to_play == CHANCE:
        game.apply(state, game.chances(state)[0][0])
    result = search(game, state, "uniform", SearchConfig(simulations=4000), seed=1)
    largest = max(chance_nodes(result), key=lambda outcomes: sum(n for n, _ in outcomes))
    total = sum(visits for visits, _ in largest)
    for visits, probability in largest:  # a tile of 4 appears in each cell with a tenth of 1 / 14
        assert visits == pytest.approx(probability * total, abs=2)


def test_value_of_a_roll_depends_less_on_luck():
    state = PIG.new_state()
    state.total = 98  # a roll of 2 or more wins; a one passes the turn

    def spread(chance):
        config = SearchConfig(simulations=60, chance=chance)
        results = [search(PIG, state, "uniform", config, seed=seed).value for seed in range(30)]
        return max(results) - min(results)

    assert spread("balanced") < 0.5 * spread("drawn")
