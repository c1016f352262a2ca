"""kill -9 at any moment: no finished game is lost, nothing damaged, and one thread repeats itself.

Real processes run the real command; what differs from a shell is that they are forked from one that
has imported everything already.
"""

import itertools
import random
import time
from collections import Counter

import pytest
from tiny_runs import check_whole, games_of, train_arguments, unclocked_metrics, weights_of

pytestmark = pytest.mark.slow

GENERATIONS = 4


@pytest.fixture(scope="module")
def uninterrupted(server, tmp_path_factory):
    """A run from beginning to end, and the seconds that it took."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    start = time.monotonic()
    assert server.run(train_arguments(folder, GENERATIONS)) == 0, server.output.read_text()
    return folder, time.monotonic() - start


def kill_again_and_again(server, folder, threads, kills, delays):
    """Runs until the end, killed after each of the delays; returns how many kills are left."""
    finished = set()
    while True:
        server.start(train_arguments(folder, GENERATIONS, threads))
        if kills:
            time.sleep(next(delays))
            server.kill()
        code = server.wait()
        check_whole(folder)
        finished |= set(games_of(folder))
        if code == 0 or (code == 2 and "reached its limit" in server.output.read_text()):
            assert finished == set(games_of(folder))
            return kills
        assert code == -9 and kills, server.output.read_text()
        kills -= 1


def test_one_thread_killed_20_times_becomes_the_same_run(server, uninterrupted, tmp_path):
    whole, seconds = uninterrupted
    generator, left = random.Random(1), 20
    delays = (generator.uniform(0, 0.6 * seconds) for _ in itertools.count())
    for number in itertools.count():
        if not left:
            break
        folder = tmp_path / str(number)
        left = kill_again_and_again(server, folder, 1, left, delays)
        assert weights_of(folder) == weights_of(whole)
        assert games_of(folder) == games_of(whole)
        assert unclocked_metrics(folder) == unclocked_metrics(whole)


def test_two_threads_killed_4_times_lose_no_finished_game(server, uninterrupted, tmp_path):
    _, seconds = uninterrupted
    generator, left = random.Random(2), 4
    delays = (generator.uniform(0, 0.6 * seconds) for _ in itertools.count())
    for number in itertools.count():
        if not left:
            break
        folder = tmp_path / str(number)
        left = kill_again_and_again(server, folder, 2, left, delays)
        assert len(unclocked_metrics(folder)) == GENERATIONS
        counts = Counter(metrics["generation"] for metrics in unclocked_metrics(folder))
        assert counts == Counter(range(1, GENERATIONS + 1))
        assert unclocked_metrics(folder)[-1]["total_games"] == len(games_of(folder))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_killed_between_any_two_files_goes_on(server, uninterrupted, tmp_path, threads):
    """The moments that chance may miss: between the parts of a generation that belong together.

    A generation writes four files, and the first one two before them; a process that writes five
    or six of them has finished a generation.
    """
    whole, _ = uninterrupted
    folder, arguments, finished = tmp_path / "run", None, set()
    for last_file in itertools.cycle([1, 3, 2, 4, 6, 5]):
        arguments = train_arguments(folder, GENERATIONS, threads)
        code = server.run(arguments, last_file=last_file)
        check_whole(folder)
        finished |= set(games_of(folder))
        if code != -9:
            break
    assert code == 0 or "reached its limit" in server.output.read_text()
    assert finished == set(games_of(folder))
    assert unclocked_metrics(folder)[-1]["total_games"] == len(games_of(folder))
    if threads == 1:
        assert weights_of(folder) == weights_of(whole)
        assert games_of(folder) == games_of(whole)
        assert unclocked_metrics(folder) == unclocked_metrics(whole)
