"""The search gives the same visits as the slow one of tests/reference, with every option."""

import dataclasses
import functools
import random
import zlib

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import ReferenceSearcher, reference_search

from plainzero import CHANCE, SearchConfig, Searcher, make_game, search
from plainzero.search.config import check_for_game
from plainzero.search.resolve_options import resolve
from plainzero.search.tree_memory import plan_tree

GAMES = (
    "tic-tac-toe",
    "connect-four",
    "dots-and-boxes",
    "trio",
    "2048(size=2,target=32)",
    "go(size=3)",
    "gomoku(size=5)",
)
make = functools.cache(make_game)


def position(game, moves, seed):
    """A position after `moves` random moves, or the last one in which a player is to move."""
    rng, state = random.Random(seed), game.new_state()
    decision = state
    while moves > 0 or state.to_play == CHANCE:
        state = game.copy(state)
        game.apply(state, rng.choice(game.legal(state)))
        if state.is_over:
            break
        moves -= 1
        if state.to_play != CHANCE:
            decision = state
    return decision


@functools.cache
def hash_network(game, one_value):
    """A meaningless network: logits and values looked up by a checksum of the observation.

    Unlike a matrix product, it gives the same numbers for a position in any batch. Some logits are
    extreme, some −∞, and a few positions have −∞ for every move.
    """
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 1.5, (251, game.num_actions)).astype(np.float32)
    logits[rng.random(logits.shape) < 0.05] = 80.0
    logits[rng.random(logits.shape) < 0.15] = -np.inf
    logits[:5] = -np.inf
    values = rng.uniform(-1, 1, (251, game.num_players)).astype(np.float32)

    def evaluate(observations):
        rows = [zlib.crc32(np.ascontiguousarray(x).tobytes()) % 251 for x in observations]
        return logits[rows], values[rows, 0] if one_value else values[rows]

    return evaluate


def make_evaluator(game, name):
    """The evaluator called `name`; with one value for the mover if the game allows it."""
    if name == "network":
        return hash_network(game, one_value=game.num_players <= 2)
    return hash_network(game, one_value=False) if name == "values per player" else name


def room(game, evaluator, config, games=1, kept=0):
    """The size of the tree that the search plans, as arguments of the reference."""
    size = plan_tree(game, resolve(config, evaluator), games, kept)
    return {"max_nodes": size.nodes, "max_edges": size.edges}


def assert_same(result, expected):
    assert result.visits.tolist() == expected.visits.tolist()
    assert result.prior.tolist() == expected.prior.tolist()
    assert bool(result.proven) == expected.proven
    assert result.proof_length.tolist() == expected.proof_length.tolist()
    assert result.q == pytest.approx(expected.q, abs=1e-9)
    assert list(result.values) == pytest.approx(expected.values, abs=1e-9)


# ---- all options at once -------------------------------------------------------------------------

OPTIONS = {
    "selection": ["auto", "uct", "puct", "puct-log", "gumbel"],
    "simulations": [1, 2, 9, 30, 60, 90, 119, 120],
    "c_uct": [0.3, 2.0],
    "c_puct": [0.0, 0.5, 3.0],
    "c_puct_base": [0.0, 10.0, 500.0],
    "c_puct_spread": [0.85],
    "c_puct_spread_prior": [0.2],
    "c_puct_spread_weight": [0.0, 5.0],
    "visit_term": ["sum", "node", "max-one"],
    "visit_exponent": [0.0, 0.4, 0.8],
    "fpu": ["zero", "parent", "reduction", "infinite"],
    "fpu_reduction": [0.0, 1.0],
    "chance": ["drawn"],
    "rollouts": [3],
    "rollout_weight": [0.5, 1.0],
    "leaves": [2, 5, 16],
    "pending": ["draw", "loss"],
    "noise_weight": [0.25, 1.0],
    "noise_alpha": [0.3],
    "forced_playouts": [2.0, 10.0],
    "gumbel_actions": [1, 3],
    "gumbel_c_visit": [10.0],
    "gumbel_c_scale": [0.1],
    "gumbel_rescale": [True],
    "choice": ["lcb"],
    "lcb_deviations": [1.0],
    "proven_values": [True],
    "amaf": ["rave", "grave"],
    "amaf_bias": [0.1],
    "grave_visits": [1, 10],
    "widening": [1.0, 2.5],
    "widening_exponent": [0.3],
    "prior_threshold": [0.05, 0.2],
    "prune_margin": [0.1, 0.5],
    "prune_visits": [1, 5],
    "nodes": [2, 30],
}
NOT_WITH_GUMBEL = (
    "amaf",
    "c_puct_spread",
    "choice",
    "forced_playouts",
    "fpu",
    "noise_weight",
    "prior_threshold",
    "prune_margin",
    "widening",
)


@st.composite
def searches(draw):
    """A game, a position, an evaluator and valid options for them."""
    rng = draw(st.randoms(use_true_random=False))
    game = make(rng.choice(GAMES))
    state = position(game, rng.randrange(9), seed=rng.random())
    evaluator = make_evaluator(
        game, rng.choice(["uniform", "rollout", "network", "values per player"])
    )
    options = {"selection": rng.choice(OPTIONS["selection"]), "simulations": 40}
    for name in rng.sample(sorted(OPTIONS), rng.randrange(20)):
        if not (options["selection"] == "gumbel" and name in NOT_WITH_GUMBEL):
            options[name] = rng.choice(OPTIONS[name])
    try:
        config = without_ignored_options(SearchConfig(**options), evaluator)
        check_for_game(config, game)
    except ValueError:
        assume(False)
    return game, state, evaluator, config


def without_ignored_options(config, evaluator):
    """The config with the default of every option that would be refused as ignored."""
    while True:
        try:
            resolve(config, evaluator)
            return config
        except ValueError as error:
            option, is_ignored = str(error).split()[0], "only applies with" in str(error)
            if option == "rollout_weight":
                config = dataclasses.replace(config, rollout_weight=0.0)
            elif is_ignored:
                default = getattr(SearchConfig(), option)
                config = dataclasses.replace(config, **{option: default})
            else:
                raise


@settings(max_examples=500, derandomize=True, deadline=None)
@given(searches(), st.integers(0, 2**64 - 1))
def test_search_equals_reference_with_any_options(drawn, seed):
    game, state, evaluator, config = drawn
    result = search(game, state, evaluator, config, seed)
    size = room(game, evaluator, config)
    expected = reference_search(game, state, evaluator, config, seed, **size)
    assert_same(result, expected)
    assert result.best_action == expected.best_action
    assert result.policy_target == pytest.approx(expected.policy_target, abs=1e-7)  # float32 priors


@settings(max_examples=20, derandomize=True, deadline=None)
@given(searches(), st.integers(0, 1000))
def test_each_game_of_a_batch_is_searched_as_if_alone(drawn, seed):
    game, state, evaluator, config = drawn
    states = [state, game.copy(state), position(game, 1, seed), position(game, 3, seed)]
    results = search(game, states, evaluator, config, seed)
    assert len(results) == len(states)
    size = room(game, evaluator, config, len(states))
    for index, (result, state) in enumerate(zip(results, states, strict=True)):
        expected = reference_search(game, state, evaluator, config, seed, index, **size)
        assert_same(result, expected)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(searches(), st.integers(0, 1000))
def test_search_reuses_its_tree_as_the_reference_does(drawn, seed):
    game, state, evaluator, config = drawn
    state, config = game.copy(state), dataclasses.replace(config, nodes=0)
    searcher = Searcher(game, evaluator, config)
    reference = ReferenceSearcher(game, evaluator, config, 0, 0)
    for move in range(3):
        size = room(game, evaluator, config, kept=reference.num_nodes)
        reference.max_nodes = max(reference.max_nodes, size["max_nodes"])
        reference.max_edges = max(reference.max_edges, size["max_edges"])
        result = searcher.search(state, seed + move)
        assert_same(result, reference.search(state, seed + move))
        actions = [result.best_action]
        game.apply(state, actions[0])
        while state.to_play == CHANCE and not state.is_over:
            actions.append(game.legal(state)[0])
            game.apply(state, actions[-1])
        if state.is_over:
            break
        for action in actions:
            searcher.advance(action)
            reference.advance(action)


# ---- each option separately ----------------------------------------------------------------------

NETWORK = {"game": "connect-four", "evaluator": "network"}
LATER = {"game": "connect-four", "evaluator": "network", "moves": 2}
BOXES = {"game": "dots-and-boxes", "evaluator": "network"}
SHARP = {"game": "tic-tac-toe", "moves": 4, "evaluator": "uniform"}
ROLLOUT = {"game": "tic-tac-toe", "evaluator": "rollout"}
DICE = {"game": "pig", "evaluator": "network", "moves": 4}
LEAVES = {"leaves": 5}
GUMBEL = {"selection": "gumbel", "simulations": 40}

# option: the position, other options, and values that must change the visits
CASES = {
    "simulations": (NETWORK, {}, [1, 30]),
    "nodes": (NETWORK, {}, [2, 10]),
    "selection": (NETWORK, {}, ["uct", "puct-log", "gumbel"]),
    "c_uct": (ROLLOUT, {}, [0.3]),
    "c_puct": (NETWORK, {}, [0.0, 5.0]),
    "c_puct_base": (NETWORK, {"c_puct_base": 3.0}, [0.0, 30.0]),
    "c_puct_spread": (NETWORK, {}, [0.85, 3.0]),
    "c_puct_spread_prior": (NETWORK, {"c_puct_spread": 2.0}, [0.1]),
    "c_puct_spread_weight": (NETWORK, {"c_puct_spread": 3.0}, [0.0, 40.0]),
    "visit_term": (BOXES, {}, ["sum", "node", "max-one"]),
    "visit_exponent": (NETWORK, {}, [0.0, 1.0]),
    "fpu": (NETWORK, {}, ["parent", "reduction", "infinite"]),
    "fpu_reduction": (NETWORK, {"fpu": "reduction"}, [0.0, 1.0]),
    "chance": (DICE, {"leaves": 3}, ["drawn"]),
    "rollouts": (ROLLOUT, {}, [3]),
    "rollout_weight": (NETWORK, {}, [0.5, 1.0]),
    "leaves": (NETWORK, {}, [2, 7]),
    "pending": (NETWORK, LEAVES, ["draw", "loss"]),
    "noise_weight": (NETWORK, {}, [0.25, 1.0]),
    "noise_alpha": (NETWORK, {"noise_weight": 0.5}, [0.03, 3.0]),
    "forced_playouts": (LATER, {}, [2.0, 20.0]),
    "gumbel_actions": (LATER, GUMBEL, [1, 2, 3]),
    "gumbel_c_visit": (LATER, GUMBEL, [0.0]),
    "gumbel_c_scale": (LATER, GUMBEL, [0.1]),
    "gumbel_rescale": (LATER, {**GUMBEL, "simulations": 100, "gumbel_c_scale": 0.1}, [True]),
    "proven_values": (SHARP, {}, [True]),
    "amaf": (ROLLOUT, {}, ["rave", "grave"]),
    "amaf_bias": (ROLLOUT, {"amaf": "rave"}, [0.5]),
    "grave_visits": (ROLLOUT, {"amaf": "grave"}, [1, 5]),
    "widening": (NETWORK, {}, [0.3]),
    "widening_exponent": (NETWORK, {"widening": 1.0}, [0.1]),
    "prior_threshold": (NETWORK, {}, [0.05, 0.3]),
    "prune_margin": (NETWORK, {}, [0.02]),
    "visits": (NETWORK, {}, [1, 50]),
    "prune_visits": (NETWORK, {"prune_margin": 0.1}, [1, 10]),
}
CHOICES = {
    "choice": ({}, "lcb"),
    "lcb_deviations": ({"choice": "lcb", "lcb_visits": 0.0}, 0.0),
    "lcb_visits": ({"choice": "lcb"}, 1.0),
}
# Tested below; templates, which none of these games has, in test_templates.py.
BELOW = {"seconds", "max_bytes", "temperature", "temperature_turns", "trace", "templates"}


def search_both(where, options):
    """The reference's visits, which the search must have too."""
    game = make(where["game"])
    state = position(game, where.get("moves", 0), seed=1)
    evaluator = make_evaluator(game, where["evaluator"])
    config = SearchConfig(**{"simulations": 120, **options})
    size = room(game, evaluator, config)
    expected = reference_search(game, state, evaluator, config, seed=5, **size)
    assert_same(search(game, state, evaluator, config, seed=5), expected)
    return expected.visits.tolist()


@pytest.mark.parametrize("option", CASES)
def test_option_changes_visits_as_it_does_in_the_reference(option):
    where, others, values = CASES[option]
    usual = search_both(where, others)
    for value in values:
        assert search_both(where, {**others, option: value}) != usual, value


@pytest.mark.parametrize("option", CHOICES)
def test_option_changes_the_move_as_it_does_in_the_reference(option):
    others, value = CHOICES[option]
    game = make("connect-four")
    evaluator = make_evaluator(game, "network")
    differ = 0
    for seed in range(20):
        state = position(game, 4, seed)
        moves = []
        for options in (others, {**others, option: value}):
            config = SearchConfig(simulations=40, c_puct=3.0, **options)
            moves.append(reference_search(game, state, evaluator, config, seed).best_action)
            assert search(game, state, evaluator, config, seed).best_action == moves[-1]
        differ += moves[0] != moves[1]
    assert differ > 0


def test_gumbel_skips_a_move_that_is_proven_lost():
    # x x .    o must play at 2; the network prefers 8, and there is only one candidate.
    # . o .
    # . . .
    game = make("tic-tac-toe")
    state = game.new_state()
    for action in (0, 4, 1):
        game.apply(state, action)
    logits = np.array([[0, 0, 0, 0, 0, 0, 0, 0, 30]], np.float32)

    def evaluator(observations):
        return np.repeat(logits, len(observations), axis=0), np.zeros(len(observations))

    config = SearchConfig(simulations=20, selection="gumbel", gumbel_actions=1, proven_values=True)
    result = search(game, state, evaluator, config)
    assert result.exact[8] == -1.0
    assert result.visits[8] == 2  # as many as the refutation took
    assert result.best_action != 8
    assert result.best_action == reference_search(game, state, evaluator, config).best_action


def test_every_option_has_a_case():
    options = {option.name for option in dataclasses.fields(SearchConfig)}
    assert options == CASES.keys() | CHOICES.keys() | BELOW


@pytest.mark.parametrize("game_name", GAMES)
@pytest.mark.parametrize("evaluator", ["uniform", "rollout", "network"])
def test_each_game_with_default_options(game_name, evaluator):
    search_both({"game": game_name, "evaluator": evaluator, "moves": 2}, {"simulations": 60})


# ---- options that the reference lacks ------------------------------------------------------------


@settings(max_examples=40, derandomize=True, deadline=None)
@given(searches(), st.integers(2, 40))
def test_a_full_tree_is_searched_without_growing(drawn, nodes):
    game, state, evaluator, config = drawn
    config = dataclasses.replace(config, nodes=0)
    empty, one = (
        Searcher(game, evaluator, dataclasses.replace(config, simulations=n)).planned_bytes()
        for n in (1, 2)
    )
    config = dataclasses.replace(config, max_bytes=empty + nodes * (one - empty))
    result = search(game, state, evaluator, config, seed=nodes)
    size = room(game, evaluator, config)
    assert len(result.tree) <= size["max_nodes"]
    expected = reference_search(game, state, evaluator, config, nodes, **size)
    assert_same(result, expected)


def test_temperature_draws_the_move_in_the_first_turns_only():
    game = make("connect-four")
    state = position(game, 2, seed=1)

    def moves(**options):
        config = SearchConfig(simulations=50, choice="temperature", **options)
        results = [search(game, state, "uniform", config, seed) for seed in range(20)]
        assert len({result.best_action for result in results}) == 1
        return {result.action for result in results}, results[0].best_action

    drawn, best = moves(temperature=1.0)
    assert len(drawn) > 3
    assert moves(temperature=0.0) == ({best}, best)
    assert moves(temperature=1.0, temperature_turns=2) == ({best}, best)
    assert len(moves(temperature=1.0, temperature_turns=3)[0]) > 3


def test_trace_contains_every_simulation():
    game = make("tic-tac-toe")
    config = SearchConfig(simulations=60, trace=True)
    result = search(game, position(game, 3, seed=1), "rollout", config)
    first_moves = [simulation.actions[0] for simulation in result.trace]
    assert np.bincount(first_moves, minlength=9).tolist() == result.visits.tolist()
    mover_results = [simulation.values[result.to_play] for simulation in result.trace]
    assert np.dot(result.q, result.visits) == pytest.approx(sum(mover_results))


def test_seconds_end_a_search_that_nothing_else_ends():
    game = make("connect-four")
    for seconds in (0.05, 0.5, 5.0, 50.0):  # a busy machine may need more than the first
        config = SearchConfig(simulations=0, seconds=seconds)
        result = search(game, game.new_state(), "uniform", config)
        if result.simulations > 100:
            break
    assert result.simulations > 100
    assert result.visits.sum() == result.simulations
