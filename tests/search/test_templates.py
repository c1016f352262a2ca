"""Templates: wins that rest on a few cells, learned by a search and recognised elsewhere."""

import dataclasses

import numpy as np
import pytest

from plainzero import SearchConfig, Searcher, make_game, search
from plainzero.games.bundled.hex import Hex
from plainzero.games.position_setup import set_up_position
from plainzero.opponents.alpha_beta import AlphaBeta
from plainzero.search.kernels.tree import NEED, ZONE

GAME = Hex(size=4)
SOLVER = AlphaBeta(GAME, depth=GAME.max_turns)
PLAYOUTS = {
    "simulations": 200_000,
    "selection": "puct",
    "c_puct": 0.02,
    "c_puct_base": 0.0,
    "fpu": "zero",
    "amaf": "grave",
    "proven_values": True,
}
CONFIG = SearchConfig(templates=4096, **PLAYOUTS)


def opening(action, game=GAME):
    state = game.new_state()
    game.apply(state, action)
    return state


def exact(state):
    """The value for the mover, by alpha-beta."""
    solved = SOLVER.solve(state)
    assert solved.is_exact
    return max(value for value in solved.values if not np.isnan(value))


def templates_of(searcher):
    """The templates of a searcher's only game: player, cells of the zone, required cells."""
    tree = searcher._tree
    for player, count in enumerate(tree.roots[0].num_templates):
        for template in range(count):
            word, bit = divmod(template, 64)
            cells = (tree.templates[0, player, :, :, word] >> np.uint64(bit)) & np.uint64(1)
            yield player, np.flatnonzero(cells[ZONE]), np.flatnonzero(cells[NEED])


def test_every_template_wins_against_all_other_cells_at_once():
    searcher = Searcher(GAME, "rollout", CONFIG)
    for action in (0, 3, 5):
        assert searcher.search(opening(action), seed=action).proven
    templates = list(templates_of(searcher))
    assert len(templates) > 150
    for player, zone, need in templates[::7]:
        cells = np.full(GAME.num_cells, "xo"[1 - player])
        cells[zone] = "."
        cells[need] = "xo"[player]
        assert set(need) <= set(zone)
        state = set_up_position(GAME, cells.reshape(4, 4).tolist(), to_play=1 - player)
        assert state.is_over or exact(state) == -1.0
        assert not state.is_over or state.returns[player] == 1.0


@pytest.mark.parametrize("seed", range(12))
def test_proofs_along_a_game_agree_with_alpha_beta(seed):
    state, generator = GAME.new_state(), np.random.default_rng(seed)
    for _ in range(1 + seed % 5):
        GAME.apply(state, int(generator.choice(GAME.legal(state))))
    result = search(GAME, state, "rollout", CONFIG, seed=seed)
    assert result.proven
    assert result.value == exact(state)
    solved = SOLVER.solve(state).values
    known = ~np.isnan(result.exact)
    assert np.array_equal(result.exact[known], solved[known])


@pytest.mark.parametrize("seed", range(8))
def test_only_a_move_that_ends_the_game_has_a_proof_of_one_move(seed):
    state, generator = GAME.new_state(), np.random.default_rng(seed)
    searcher = Searcher(GAME, "rollout", CONFIG)
    while not state.is_over:
        result = searcher.search(state, seed=seed)  # templates are kept along the game
        for action in np.flatnonzero(result.proof_length == 1):
            after = GAME.copy(state)
            GAME.apply(after, int(action))
            assert after.is_over
        action = int(generator.choice(GAME.legal(state)))
        searcher.advance(action)
        GAME.apply(state, action)


def test_templates_shorten_proofs():
    plain = SearchConfig(**PLAYOUTS)
    for action in (0, 6):
        without, with_them = (
            search(GAME, opening(action), "rollout", config, seed=1) for config in (plain, CONFIG)
        )
        assert without.proven and with_them.proven and without.value == with_them.value
        assert with_them.simulations < without.simulations / 4


def test_earlier_searches_have_no_effect():
    searcher = Searcher(GAME, "rollout", CONFIG)
    searcher.search(opening(4), seed=1)
    again = searcher.search(opening(0), seed=1)
    fresh = search(GAME, opening(0), "rollout", CONFIG, seed=1)
    assert again.simulations == fresh.simulations
    assert again.visits.tolist() == fresh.visits.tolist()


@pytest.mark.parametrize("max_bytes", [1 << 30, 120_000])
def test_proofs_stay_correct_in_a_reused_tree(max_bytes):
    options = PLAYOUTS | {"simulations": 400, "max_bytes": max_bytes}
    searcher = Searcher(GAME, "rollout", SearchConfig(**options, templates=64))
    generator, proofs = np.random.default_rng(1), 0
    for _ in range(8):
        state = GAME.new_state()
        while not state.is_over:
            result = searcher.search(state, seed=state.turn)
            if result.proven:
                value = exact(state)
                child = GAME.copy(state)
                GAME.apply(child, result.best_action)
                reached = child.returns[state.to_play] if child.is_over else -exact(child)
                assert result.value == value == reached
                proofs += 1
            action = int(generator.choice(GAME.legal(state)))
            GAME.apply(state, action)
            searcher.advance(action)
    assert proofs > 30


def test_a_winning_move_is_the_target_even_if_never_tried():
    result = search(GAME, opening(0), "rollout", CONFIG, seed=1)
    assert result.proven and result.value == 1.0
    edges = result.roots.edges[0]
    wins = result.exact[edges["action"]] == 1.0
    edges["visits"][wins] = 0  # as if a template had proved it
    edges["visits"][~wins] = 5
    assert set(np.flatnonzero(result.policy_target)) == set(edges["action"][wins])


def test_proofs_are_right_with_widening():
    def lopsided(planes):
        flat = planes.reshape(len(planes), -1)
        weights = np.sin(np.arange(flat.shape[1] * (GAME.num_actions + 1)))
        outputs = 3.0 * flat @ weights.reshape(flat.shape[1], -1)
        return outputs[:, :-1], np.tanh(outputs[:, -1])

    options = {"proven_values": True, "templates": 1024, "widening": 4.0}
    config = SearchConfig(simulations=4000, **options)
    generator, proofs = np.random.default_rng(7), 0
    for seed in range(12):
        state = GAME.new_state()
        for _ in range(4):
            GAME.apply(state, int(generator.choice(GAME.legal(state))))
        result = search(GAME, state, lopsided, config, seed=seed)
        solved, known = SOLVER.solve(state).values, ~np.isnan(result.exact)
        assert np.array_equal(result.exact[known], solved[known])
        proofs += result.proven
    assert proofs > 6


def test_the_oldest_template_is_replaced():
    config = SearchConfig(templates=64, **PLAYOUTS)
    searcher = Searcher(GAME, "rollout", config)
    result = searcher.search(opening(1), seed=3)
    assert result.proven and result.value == exact(opening(1))
    assert max(searcher._tree.roots[0].num_templates) > 64


def test_several_leaves_without_playouts_prove_as_much():
    state = opening(9)
    for action in (5, 3, 8):
        GAME.apply(state, action)
    config = SearchConfig(simulations=20_000, proven_values=True, templates=4096, leaves=8)
    result = search(GAME, state, "uniform", config)
    assert result.proven and result.value == exact(state)
    plain = search(GAME, state, "uniform", dataclasses.replace(config, templates=0))
    assert result.simulations < plain.simulations


def test_a_full_tree_drops_proven_subtrees():
    small = SearchConfig(**PLAYOUTS | {"max_bytes": 1_500_000})
    result = search(GAME, opening(2), "rollout", small, seed=1)
    assert result.proven and result.value == exact(opening(2))
    assert len(result.tree) < result.simulations / 4


@pytest.mark.parametrize("name", ["tic-tac-toe", "hex(size=4,swap=True)", "gomoku"])
def test_other_games_are_refused(name):
    with pytest.raises(ValueError, match="templates need a game whose moves take cells"):
        Searcher(make_game(name), "rollout", CONFIG)


def test_a_trace_of_them_is_refused():
    with pytest.raises(ValueError, match="leave templates at 0"):
        SearchConfig(simulations=10, proven_values=True, templates=64, trace=True)


def test_without_proofs_they_are_refused():
    with pytest.raises(ValueError, match="templates only applies with proven_values"):
        Searcher(GAME, "rollout", SearchConfig(templates=64))
