"""The networks of runs: for many searches at once, and one position across checkpoints."""

import asyncio
import json
import shutil
import threading
import time

import numpy as np
import pytest
import torch
from small_runs import copy_finished, make_runs

from plainzero.games.registry import make_game
from plainzero.networks.architectures import draw_zeros, make_network
from plainzero.networks.config import NetworkConfig
from plainzero.networks.export import TOLERANCE
from plainzero.networks.network_evaluators import available_backends, make_evaluator
from plainzero.networks.sample_positions import random_positions
from plainzero.search.api import search
from plainzero.search.runner import StopFlag
from plainzero.server.app import make_app
from plainzero.server.lru_cache import LruCache
from plainzero.server.options import ServerOptions
from plainzero.server.position_views import legal_moves
from plainzero.server.runs.loaded_networks import LoadedNetworks, SharedEvaluator
from plainzero.server.runs.position_over_time import evaluate_checkpoints, spread_steps
from plainzero.server.searching.scheduler import Slot, SlotQueue
from plainzero.server.services import Services

TIC_TAC_TOE = make_game("tic-tac-toe")
NETWORK = draw_zeros(make_network(TIC_TAC_TOE, NetworkConfig(blocks=1, channels=8), 1))


@pytest.fixture
def run(tmp_path, tmp_path_factory):
    return copy_finished(tmp_path_factory, tmp_path / "home" / "first")


@pytest.fixture
def runs(run):
    return make_runs(home=run.parent)


@pytest.fixture
def weights(runs):
    return LoadedNetworks(runs)


def evaluate(weights, moves=(), max_steps=40, run="first", game=TIC_TAC_TOE, stop=None):
    state = game.new_state()
    for action in moves:
        game.apply(state, action)
    with Slot(SlotQueue(1), "somebody", stop or StopFlag()) as slot:
        return evaluate_checkpoints(
            weights, run, game, state, legal_moves(game, state), max_steps, slot
        )


def call_in_threads(work, count=4):
    """What each of the threads' calls of work(number) returns; the first error is raised."""
    answers = [None] * count

    def call(number):
        try:
            answers[number] = work(number)
        except Exception as error:
            answers[number] = error

    threads = [threading.Thread(target=call, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


# ---- evaluators ----------------------------------------------------------------------------------


def test_an_evaluator_says_what_the_network_says(runs, weights):
    planes = random_positions(TIC_TAC_TOE, 20)
    for step in runs.info("first").steps:
        evaluator, found = weights.evaluator("first", step)
        expected = runs.saved("first").evaluator(step)(planes)
        assert found == step and evaluator.backend == "onnx"
        for given, wanted in zip(evaluator(planes), expected, strict=True):
            np.testing.assert_allclose(given, wanted, atol=TOLERANCE)


def test_evaluators_are_kept_and_the_newest_is_looked_for_again(run, runs, weights):
    steps = runs.info("first").steps
    evaluator, step = weights.evaluator("first")
    assert step == steps[-1] and weights.evaluator("first", step)[0] is evaluator
    folder = run / "weights"
    shutil.copy(folder / f"{steps[0]:08d}.safetensors", folder / "00009999.safetensors")
    newer, newest = weights.evaluator("first")
    assert newest == 9999 and newer is not evaluator


def test_weights_that_are_written_anew_are_read_anew(run, runs, weights):
    first, *_, last = runs.info("first").steps
    planes = random_positions(TIC_TAC_TOE, 5)
    before = weights.evaluator("first", last)[0](planes)[0]
    (run / "weights" / f"{last:08d}.safetensors").unlink()
    shutil.copy(
        run / "weights" / f"{first:08d}.safetensors", run / "weights" / f"{last:08d}.safetensors"
    )
    after = weights.evaluator("first", last)[0](planes)[0]
    assert not np.array_equal(before, after)
    np.testing.assert_array_equal(after, weights.evaluator("first", first)[0](planes)[0])


def test_weights_that_are_not_there_are_refused(run, runs, weights):
    last = runs.info("first").steps[-1]
    with pytest.raises(ValueError, match=f"no weights of step 100000; the nearest step is {last}"):
        weights.evaluator("first", 100_000)
    weights.evaluator("first", last)
    (run / "weights" / f"{last:08d}.safetensors").unlink()
    with pytest.raises(ValueError, match=f"first has no weights of step {last}"):
        weights.evaluator("first", last)
    shutil.rmtree(run / "weights")
    with pytest.raises(ValueError, match="first has no weights yet"):
        weights.evaluator("first")


def test_damaged_weights_are_told_without_a_path(run, runs, weights):
    last = runs.info("first").steps[-1]
    path = run / "weights" / f"{last:08d}.safetensors"
    contents = path.read_bytes()
    path.write_bytes(contents[:-1] + bytes([contents[-1] ^ 1]))
    for step in (last, None):
        with pytest.raises(ValueError, match=r"^first/weights/\d+.safetensors is damaged"):
            weights.evaluator("first", step)


def test_with_a_gate_the_weights_play_that_passed_it_last(run, runs, weights):
    text = (run / "config.toml").read_text().replace("gate = false", "gate = true")
    (run / "config.toml").write_text(text)
    assert weights.newest_step("first") == runs.info("first").steps[0]
    lines = (run / "metrics.jsonl").read_text().splitlines()
    lines[1] = lines[1].replace('"generation": 2', '"gate_passed": 1.0, "generation": 2')
    (run / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    passed = runs.since("first", 1)[0]
    assert passed.numbers["gate_passed"] == 1.0
    assert weights.evaluator("first")[1] == passed.step


@pytest.mark.parametrize("backend", available_backends(NETWORK))
def test_threads_that_share_an_evaluator_get_what_each_asked_for(backend):
    shared = SharedEvaluator(lambda: make_evaluator(NETWORK, TIC_TAC_TOE, backend))
    batches = [random_positions(TIC_TAC_TOE, size) for size in (1, 3, 8, 17)]
    expected = [shared(planes) for planes in batches]

    def call(number):
        generator, wrong = np.random.default_rng(number), 0
        for _ in range(40):
            place = int(generator.integers(len(batches)))
            answers = zip(shared(batches[place]), expected[place], strict=True)
            wrong += not all(np.array_equal(given, wanted) for given, wanted in answers)
        return wrong

    assert call_in_threads(call) == [0, 0, 0, 0]


class TouchyBackend:
    """A backend that must not be called twice at once."""

    backend = "touchy"

    def __init__(self):
        self._lock = threading.Lock()

    def __call__(self, planes):
        assert self._lock.acquire(blocking=False), "called while it was at work"
        time.sleep(0.01)
        self._lock.release()
        return planes, planes

    def load(self, network):
        raise NotImplementedError


def test_a_backend_serves_one_caller_at_a_time():
    made = []

    def make():
        made.append(TouchyBackend())
        return made[-1]

    shared = SharedEvaluator(make)
    call_in_threads(lambda number: [shared(np.zeros(1, np.float32)) for _ in range(10)])
    assert 1 <= len(made) <= 4


def test_two_searches_at_once_find_what_each_finds_alone(runs, weights):
    evaluator, _ = weights.evaluator("first")
    config, state = runs.saved("first").search_config(60), TIC_TAC_TOE.new_state()

    def think(seed):
        return search(TIC_TAC_TOE, state, evaluator, config, seed, threads=1).visits.tolist()

    alone = [think(seed) for seed in range(4)]
    assert call_in_threads(think) == alone


def test_threads_that_ask_at_once_get_one_evaluator(weights):
    found = call_in_threads(lambda _: weights.evaluator("first")[0])
    assert all(evaluator is found[0] for evaluator in found)


# ---- evaluations ---------------------------------------------------------------------------------


def test_each_checkpoint_is_evaluated_by_its_own_network(runs, weights):
    state = TIC_TAC_TOE.new_state()
    for action in (4, 0, 8):
        TIC_TAC_TOE.apply(state, action)
    legal, found = TIC_TAC_TOE.legal(state), evaluate(weights, (4, 0, 8))
    saved = runs.saved("first")
    assert [evaluation.step for evaluation in found.checkpoints] == saved.steps
    assert [move.action for move in found.moves] == legal
    planes = torch.from_numpy(TIC_TAC_TOE.observation(state)[None])
    for evaluation in found.checkpoints:
        with torch.inference_mode():
            output = saved.network(evaluation.step)(planes)
        policy = torch.softmax(output.logits[0, legal], 0)
        assert evaluation.policy == pytest.approx(policy.tolist(), abs=1e-6)
        assert evaluation.value == pytest.approx(float(output.values[0]), abs=1e-6)
    assert len({evaluation.value for evaluation in found.checkpoints}) == len(saved.steps)


def test_checkpoints_have_the_generations_of_the_metrics(weights):
    assert [evaluation.generation for evaluation in evaluate(weights).checkpoints] == [0, 1, 2, 3]


def test_evaluations_are_cached_by_step_and_position(weights):
    first, again = evaluate(weights, (4,)), evaluate(weights, (4,))
    assert all(a is b for a, b in zip(first.checkpoints, again.checkpoints, strict=True))
    assert evaluate(weights, (0,)).checkpoints[-1] != first.checkpoints[-1]


def test_what_is_kept_of_a_position_does_not_grow_with_the_board(weights):
    evaluate(weights, (4,))
    keys = list(weights.evaluations._entries)
    assert len(keys) == 4 and {len(position) for _, _, position in keys} == {16}


def test_no_step_is_asked_once_the_question_is_stopped(weights):
    stop = StopFlag()
    stop.set()
    assert evaluate(weights, stop=stop).checkpoints == []
    assert len(weights.evaluations) == 0


def test_evaluations_wait_for_a_slot_and_stop_when_the_client_disconnects(run):
    options = ServerOptions(home=run.parent, can_train=False, names=("testserver",), searches=1)
    services, is_over = Services(options), threading.Event()
    body = json.dumps({"position": {"game": "tic-tac-toe"}}).encode()
    incoming = iter([{"type": "http.request", "body": body, "more_body": False}])
    sent = []

    async def receive():
        return next(incoming, {"type": "http.disconnect"})

    async def send(message):
        sent.append(message)

    async def ask_while_another_computes():
        other = asyncio.create_task(services.scheduler.run("other", lambda _: is_over.wait()))
        headers = [(b"host", b"testserver"), (b"content-type", b"application/json")]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/api/runs/first/position-over-time",
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 5),
        }
        while not services.scheduler.running:
            await asyncio.sleep(0.001)
        await make_app(services)(scope, receive, send)
        is_over.set()
        return await other

    assert asyncio.run(ask_while_another_computes())
    services.close()
    assert sent[0]["status"] == 422 and b"the client disconnected" in sent[1]["body"]


@pytest.mark.parametrize(
    ("count", "most", "expected"),
    [
        (3, 5, [0, 1, 2]),
        (5, 5, [0, 1, 2, 3, 4]),
        (9, 3, [0, 4, 8]),
        (100, 2, [0, 99]),
        (100, 1, [99]),
        (0, 4, []),
    ],
)
def test_steps_are_spread_over_the_run(count, most, expected):
    assert spread_steps(range(count), most) == expected


@pytest.mark.parametrize("most", [2, 7, 40, 99])
def test_spread_steps_are_all_different_and_even(most):
    steps = spread_steps(range(100), most)
    gaps = np.diff(steps)
    assert (len(steps), steps[0], steps[-1]) == (most, 0, 99)
    assert gaps.min() >= 1 and gaps.max() - gaps.min() <= 1


def test_fewer_steps_are_told_where_fewer_are_asked_for(runs, weights):
    steps = runs.info("first").steps
    found = evaluate(weights, max_steps=2).checkpoints
    assert [evaluation.step for evaluation in found] == [steps[0], steps[-1]]


def test_positions_without_a_player_to_move_are_refused(weights):
    with pytest.raises(ValueError, match="only positions in which a player is to move"):
        evaluate(weights, (0, 3, 1, 4, 2))
    with pytest.raises(ValueError, match="first is a run of tic-tac-toe, not of trio"):
        evaluate(weights, game=make_game("trio"))


def test_damaged_weights_are_reported(run, weights):
    path = run / "weights" / "00000000.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"^first/weights/00000000\.safetensors"):
        evaluate(weights)


# ---- what is kept --------------------------------------------------------------------------------


def test_values_are_cached_up_to_a_size_and_the_oldest_are_dropped():
    kept = LruCache(10, size_of=len)
    made = []

    def find(key, size):
        return kept.get(key, lambda: made.append(key) or "x" * size)

    find("a", 4)
    find("b", 4)
    find("a", 4)
    find("c", 4)
    assert made == ["a", "b", "c"] and len(kept) == 2
    find("a", 4)
    find("b", 4)
    assert made == ["a", "b", "c", "b"]
    find("huge", 11)
    assert len(kept) == 0
    find("a", 10)
    find("a", 10)
    assert made == ["a", "b", "c", "b", "huge", "a"]


def test_a_value_that_goes_while_it_is_made_is_told_all_the_same():
    kept = LruCache(10, size_of=len)
    assert kept.get("slow", lambda: kept.get("huge", lambda: "x" * 11) and "slow") == "slow"
    assert kept.get("slow", lambda: "again") == "again"
    assert kept._size == len("again")
