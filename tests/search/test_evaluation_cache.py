"""The evaluation cache saves evaluations and changes no result."""

import itertools
import random
import threading

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_reference import hash_network, make, position, searches

from plainzero import EvaluationCache, EvaluatorError, SearchConfig, Searcher, search
from plainzero.search.evaluate_leaves import LeafEvaluator
from plainzero.search.evaluation_cache import words_of
from plainzero.search.kernels.evaluation_table import STORED, bucket_of, entry_dtype, recall
from plainzero.search.scratch_memory import make_scratch
from plainzero.search.tree_memory import make_tree, plan_tree

FOUR = "connect-four"
CASES = {
    "one leaf a round": (FOUR, {}),
    "many leaves": (FOUR, {"leaves": 7}),
    "noise": (FOUR, {"noise_weight": 0.25, "leaves": 3}),
    "gumbel": (FOUR, {"selection": "gumbel"}),
    "mixed with rollouts": (FOUR, {"rollout_weight": 0.5}),
    "proofs and amaf": ("tic-tac-toe", {"proven_values": True, "amaf": "rave"}),
    "a tree too small for its leaves": ("tic-tac-toe", {"max_bytes": 60_000, "leaves": 4}),
    "moves in a row": ("dots-and-boxes", {"leaves": 4}),
    "three players": ("trio", {"leaves": 2}),
    "chance": ("2048(size=2,target=32)", {"leaves": 3}),
}
ROOMS = {"ample": 1 << 20, "a few positions": 1000, "one position": 0}


class Recorder:
    """An evaluator that records its observations, one list per call."""

    def __init__(self, evaluator):
        self.evaluator, self.calls = evaluator, []

    def __call__(self, planes):
        self.calls.append([row.tobytes() for row in planes])
        return self.evaluator(planes)

    @property
    def asked(self):
        return list(itertools.chain(*self.calls))


def make_cache(game, room):
    least = entry_dtype(game).itemsize + game.dtype.itemsize + 24
    return EvaluationCache(game, max(room, least))


def positions(game, count=6):
    """Positions whose trees overlap, some of them equal."""
    return [position(game, moves // 2, seed=moves // 3) for moves in range(count)]


def assert_equal(results, others):
    for result, other in zip(results, others, strict=True):
        assert result.visits.tolist() == other.visits.tolist()
        assert result.q.tolist() == other.q.tolist()
        assert result.prior.tolist() == other.prior.tolist()
        assert result.values.tolist() == other.values.tolist()


# ---- results are the same ------------------------------------------------------------------------


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("case", CASES)
def test_cache_changes_no_result(case, room):
    name, options = CASES[case]
    game = make(name)
    config = SearchConfig(**{"simulations": 40, **options})
    evaluator = hash_network(game, one_value=game.num_players <= 2)
    cache = make_cache(game, ROOMS[room])
    for seed in (1, 2):  # the second search finds the entries of the first
        expected = search(game, positions(game), evaluator, config, seed)
        found = search(game, positions(game), evaluator, config, seed, cache=cache, threads=seed)
        assert_equal(found, expected)
    assert 0 < cache.hits < cache.lookups


@settings(max_examples=60, derandomize=True, deadline=None)
@given(searches(), st.sampled_from(sorted(ROOMS)), st.integers(0, 1000))
def test_cache_changes_no_result_under_any_options(drawn, room, seed):
    game, state, evaluator, config = drawn
    assume(not isinstance(evaluator, str))
    states = [state, game.copy(state), position(game, 2, seed)]
    cache = make_cache(game, ROOMS[room])
    expected = search(game, states, evaluator, config, seed)
    for _ in range(2):
        assert_equal(search(game, states, evaluator, config, seed, cache=cache), expected)


@pytest.mark.parametrize("name", [FOUR, "trio"])
def test_values_per_player_come_back_from_the_cache(name):
    game, config = make(name), SearchConfig(simulations=40)
    evaluator, cache = hash_network(game, one_value=False), EvaluationCache(game)
    expected = search(game, positions(game), evaluator, config)
    for _ in range(2):
        assert_equal(search(game, positions(game), evaluator, config, cache=cache), expected)
    assert cache.value_columns == game.num_players


def test_positions_with_equal_hashes_are_distinguished():
    game, config = make(FOUR), SearchConfig(simulations=60, leaves=4)
    evaluator, cache = hash_network(game, one_value=True), EvaluationCache(game, 100_000)
    entries = cache.table.entries
    cache.table = cache.table._replace(entries=entries.reshape(1, -1))  # one bucket for all
    expected = search(game, positions(game), evaluator, config)
    for _ in range(2):
        assert_equal(search(game, positions(game), evaluator, config, cache=cache), expected)
    assert cache.hit_rate > 0.5


def test_a_reused_tree_works_with_the_cache():
    game, config = make(FOUR), SearchConfig(simulations=40)
    evaluator = hash_network(game, one_value=True)
    searchers = [
        Searcher(game, evaluator, config, cache=cache) for cache in (None, EvaluationCache(game))
    ]
    state = game.new_state()
    for move in range(4):
        expected, found = [searcher.search(state, move) for searcher in searchers]
        assert_equal([found], [expected])
        game.apply(state, expected.best_action)
        for searcher in searchers:
            searcher.advance(expected.best_action)


def test_a_failed_search_leaves_no_wrong_entries():
    game, config = make(FOUR), SearchConfig(simulations=60, leaves=4)
    network, cache = hash_network(game, one_value=True), EvaluationCache(game)
    calls_left = 5

    def evaluator(planes):
        nonlocal calls_left
        calls_left -= 1
        if calls_left == 0:
            raise OSError("the device is gone")
        return network(planes)

    with pytest.raises(OSError, match="the device is gone"):
        search(game, positions(game), evaluator, config, cache=cache)
    found = search(game, positions(game), evaluator, config, cache=cache)
    assert_equal(found, search(game, positions(game), network, config))


# ---- evaluations are saved -----------------------------------------------------------------------


@pytest.mark.parametrize("leaves", [1, 5])
def test_no_position_is_evaluated_twice(leaves):
    game, config = make(FOUR), SearchConfig(simulations=50, leaves=leaves)
    states = [game.new_state() for _ in range(4)] + positions(game)
    alone = Recorder(hash_network(game, one_value=True))
    search(game, states, alone, config)
    recorder, cache = Recorder(hash_network(game, one_value=True)), EvaluationCache(game)
    search(game, states, recorder, config, cache=cache)
    assert len(recorder.calls[0]) == len(set(alone.calls[0])) < len(states)
    assert sorted(recorder.asked) == sorted(set(alone.asked))
    assert cache.lookups == len(alone.asked)
    assert cache.hits == len(alone.asked) - len(recorder.asked)
    assert cache.hit_rate == cache.hits / cache.lookups
    calls = len(recorder.calls)
    search(game, states, recorder, config, cache=cache)
    assert len(recorder.calls) == calls  # everything is cached
    assert cache.lookups == 2 * len(alone.asked)


def test_equal_leaves_of_a_round_share_an_entry():
    game, config = make("tic-tac-toe"), SearchConfig(simulations=4, max_bytes=1 << 20)
    tree = make_tree(game, config, 3, plan_tree(game, config, 3))
    scratch = make_scratch(game, config, 3, seed=0)
    tree.states[:, 0] = position(game, 2, seed=1)
    tree.states[1, 0] = position(game, 4, seed=1)
    scratch.work["num_leaves"] = 1
    recorder, cache = Recorder(hash_network(game, one_value=True)), EvaluationCache(game)
    answers = LeafEvaluator(game, tree, scratch, recorder, cache).evaluate()
    plain = LeafEvaluator(game, tree, scratch, recorder).evaluate()
    assert [len(call) for call in recorder.calls] == [2, 3]
    assert answers.rows.tolist() == plain.rows.tolist() == [0, 1, 2]
    assert answers.logits[:3].tolist() == plain.logits.tolist()
    assert answers.values[:3].tolist() == plain.values.tolist()
    assert (cache.lookups, cache.hits) == (3, 1)
    scratch.work["num_leaves"] = 0
    assert LeafEvaluator(game, tree, scratch, recorder, cache).evaluate() is None


def test_clear_forgets_everything():
    game, config = make(FOUR), SearchConfig(simulations=30)
    recorder, cache = Recorder(hash_network(game, one_value=True)), EvaluationCache(game)
    search(game, game.new_state(), recorder, config, cache=cache)
    asked, hits = recorder.asked, cache.hits
    cache.clear()
    search(game, game.new_state(), recorder, config, cache=cache)
    assert recorder.asked == asked + asked
    assert cache.hits == 2 * hits
    cache.clear()
    other = hash_network(game, one_value=False)
    found = search(game, game.new_state(), other, config, cache=cache)
    assert_equal([found], [search(game, game.new_state(), other, config)])


# ---- the table -----------------------------------------------------------------------------------


def look_up(cache, state):
    """Whether the cache had the state; adds it if not."""
    bucket, way, is_known = recall(cache.table, words_of(state.reshape(1, 1))[0, 0], cache.lookups)
    cache.table.entries[bucket, way].place = STORED
    return is_known


@pytest.mark.parametrize("name", ["connect-four", "dots-and-boxes", "trio", "2048"])
def test_all_bytes_of_fields_matter_and_no_others(name):
    game = make(name)
    state = np.zeros(1, game.dtype)
    state[0] = position(game, 5, seed=1)
    cache = EvaluationCache(game, 1 << 16)
    of_fields = np.zeros(game.dtype.itemsize, bool)
    for field in game.dtype.names[:-1]:
        kind, offset = game.dtype.fields[field]
        of_fields[offset : offset + kind.itemsize] = True
    assert not of_fields.all()
    assert not look_up(cache, state)
    for place in range(game.dtype.itemsize):
        changed = state.copy()
        changed.view(np.uint8)[place] ^= 0x40
        cache.clear()
        look_up(cache, state)
        assert look_up(cache, changed) == (not of_fields[place]), place


def test_the_least_recently_used_position_is_replaced():
    game = make("tic-tac-toe")
    cache = EvaluationCache(game, 2 * entry_dtype(game).itemsize + 100)
    assert cache.table.entries.shape == (1, 2)
    first, second, third = (np.array([position(game, n, seed=1)]) for n in (1, 2, 3))
    asked = [first, second, first, third, first, third, second]
    known = [look_up(cache, state) for state in asked]
    assert known == [False, False, True, False, True, True, False]


def test_an_empty_cache_does_not_contain_the_position_of_zeros():
    game = make("tic-tac-toe")
    cache, state = EvaluationCache(game, 10_000), np.zeros(1, game.dtype)
    assert not look_up(cache, state)
    assert look_up(cache, state)


def test_positions_of_real_games_fill_the_buckets_evenly():
    game, generator = make("connect-four"), random.Random(3)
    states = {}
    while len(states) < 2000:
        state = game.new_state()
        while not state.is_over:
            game.apply(state, generator.choice(game.legal(state)))
            states[state.tobytes()] = game.copy(state)
    cache = EvaluationCache(game, 4 * 500 * entry_dtype(game).itemsize + 200)
    words = words_of(np.array([list(states.values())]))[0]
    counts = np.bincount([bucket_of(cache.table, key) for key in words], minlength=500)
    mean = len(states) / 500
    assert len(counts) == 500
    # A Poisson distribution: the variance equals the mean, with a standard error of √(2/500).
    assert counts.var() / mean == pytest.approx(1, abs=4 * (2 / 500) ** 0.5)


@pytest.mark.parametrize("max_bytes", [300, 1000, 4567, 1 << 20])
def test_memory_is_bounded(max_bytes):
    game = make("tic-tac-toe")
    cache = EvaluationCache(game, max_bytes)
    bucket = cache.table.entries[0].nbytes
    assert max_bytes - bucket < cache.bytes <= max_bytes
    assert cache.capacity == cache.table.entries.nbytes // entry_dtype(game).itemsize


def test_the_error_states_the_least_memory():
    game = make("tic-tac-toe")
    with pytest.raises(ValueError, match="holds no position of tic-tac-toe") as error:
        EvaluationCache(game, 10)
    least = int(str(error.value).split()[-1])
    assert EvaluationCache(game, least).capacity == 1
    with pytest.raises(ValueError, match="holds no position"):
        EvaluationCache(game, least - 1)


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluator", ["uniform", "rollout"])
def test_cache_with_a_built_in_evaluator_is_refused(evaluator):
    game = make("tic-tac-toe")
    with pytest.raises(ValueError, match=f"'{evaluator}' is built in and needs no cache"):
        Searcher(game, evaluator, cache=EvaluationCache(game))


def test_cache_on_a_gpu_is_refused():
    game = make("tic-tac-toe")
    with pytest.raises(ValueError, match="device=cuda does not support a cache"):
        Searcher(game, hash_network(game, True), cache=EvaluationCache(game), device="cuda")


def test_cache_of_another_game_is_refused():
    game, other = make("tic-tac-toe"), make("tic-tac-toe(size=4)")
    evaluator = hash_network(game, one_value=True)
    with pytest.raises(ValueError, match=r"for tic-tac-toe\(size=4\), the search for tic-tac-toe;"):
        Searcher(game, evaluator, cache=EvaluationCache(other))
    with pytest.raises(ValueError, match="the cache is a dict; it must be an EvaluationCache"):
        Searcher(game, evaluator, cache={})


@pytest.mark.parametrize("max_bytes", [0, -5, 1.5, "1"])
def test_invalid_sizes_are_refused(max_bytes):
    with pytest.raises(ValueError, match="it must be a whole number, 1 or more"):
        EvaluationCache(make("tic-tac-toe"), max_bytes)
    with pytest.raises(ValueError, match="the game is 'tic-tac-toe'"):
        EvaluationCache("tic-tac-toe", 1000)


def test_another_evaluator_needs_a_cleared_cache():
    game, config = make("tic-tac-toe"), SearchConfig(simulations=5)
    cache = EvaluationCache(game)
    search(game, game.new_state(), hash_network(game, one_value=True), config, cache=cache)
    with pytest.raises(ValueError, match="holds the evaluations of another evaluator"):
        search(game, game.new_state(), hash_network(game, one_value=False), config, cache=cache)


def test_evaluator_that_changes_the_number_of_values_is_refused():
    game, cache = make("tic-tac-toe"), EvaluationCache(make("tic-tac-toe"))
    shapes = itertools.cycle([(1,), (1, 2)])

    def evaluator(planes):
        return np.zeros((len(planes), 9)), np.zeros(next(shapes))

    with pytest.raises(EvaluatorError, match=r"returned 2 value\(s\) per position, and 1 before"):
        search(game, game.new_state(), evaluator, SearchConfig(simulations=5), cache=cache)


def test_a_concurrent_search_is_refused():
    game, config = make("tic-tac-toe"), SearchConfig(simulations=5)
    cache, messages = EvaluationCache(game), []
    network = hash_network(game, one_value=True)

    def search_here():
        try:
            search(game, game.new_state(), evaluator, config, cache=cache)
        except RuntimeError as error:
            messages.append(str(error))

    def evaluator(planes):
        if not messages:
            thread = threading.Thread(target=search_here)
            thread.start()
            thread.join()
        return network(planes)

    search_here()
    assert len(messages) == 1
    assert "in use by another search; give each thread its own cache" in messages[0]
