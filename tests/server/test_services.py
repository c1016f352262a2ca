"""What requests share: cached traces, and the run of `--train`."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from small_runs import copy_finished

from plainzero import SearchConfig, make_game, search
from plainzero.server.api.schemas.games import Position
from plainzero.server.options import ServerOptions
from plainzero.server.services import Services
from plainzero.server.traces.trace import Trace
from plainzero.server.traces.trace_cache import TraceCache

GAME = make_game("tic-tac-toe")


@pytest.fixture(scope="module")
def trace():
    config = SearchConfig(simulations=50, trace=True)
    result = search(GAME, GAME.new_state(), "uniform", config)
    return Trace(result, Position(game="tic-tac-toe"))


def test_the_traces_looked_at_longest_ago_go_first(trace):
    kept = TraceCache(max_bytes=2 * trace.nbytes)
    kept.put("a", "one", trace)
    kept.put("a", "two", trace)
    kept.get("a", "one")
    kept.put("b", "three", trace)
    assert kept.nbytes == 2 * trace.nbytes
    assert kept.get("a", "one") is trace and kept.get("b", "three") is trace
    with pytest.raises(ValueError, match="was dropped"):
        kept.get("a", "two")


def test_a_trace_larger_than_the_limit_is_kept_until_the_next(trace):
    kept = TraceCache(max_bytes=1)
    kept.put("a", "one", trace)
    assert len(kept) == 1
    kept.put("a", "two", trace)
    assert len(kept) == 1 and kept.get("a", "two") is trace


def test_who_keeps_more_loses_their_own_first(trace):
    kept = TraceCache(max_bytes=3 * trace.nbytes)
    kept.put("a", "oldest of all", trace)
    for number in range(5):
        kept.put("b", f"{number}", trace)
    assert kept.get("a", "oldest of all") is trace
    assert kept.get("b", "3") is trace and kept.get("b", "4") is trace
    assert len(kept) == 3 and kept.nbytes == 3 * trace.nbytes


def test_one_page_keeps_eight_traces_at_most(trace):
    kept = TraceCache(max_bytes=1 << 30)
    for number in range(20):
        kept.put("a", f"{number}", trace)
    kept.put("a", "19", trace)  # again
    assert len(kept) == 8 and kept.nbytes == 8 * trace.nbytes
    assert kept.get("a", "12") is trace


def test_nobody_sees_the_traces_of_another_page(trace):
    kept = TraceCache(max_bytes=1 << 30)
    kept.put("a", "one", trace)
    with pytest.raises(ValueError, match="was dropped"):
        kept.get("b", "one")
    kept.drop("a")
    assert len(kept) == 0 and kept.nbytes == 0


def serve_home(folder: Path) -> Services:
    return Services(ServerOptions(home=folder, default_game="tic-tac-toe"))


def test_a_run_that_has_had_its_minutes_is_left_as_it_is(tmp_path_factory, tmp_path):
    copy_finished(tmp_path_factory, tmp_path / "tic-tac-toe")
    services = serve_home(tmp_path)
    trained = services.runs.infos()[0].seconds
    assert "is finished" in services.train(minutes=trained / 60.0)
    assert services.runs.infos()[0].state in ("finished", "stopped")
    assert services.about().default_run == "tic-tac-toe"
    services.close()


def test_the_first_run_decides_what_is_shown_first(tmp_path_factory, tmp_path):
    copy_finished(tmp_path_factory, tmp_path / "given")
    services = Services(ServerOptions(runs=(tmp_path / "given",), home=tmp_path / "none"))
    about = services.about()
    assert (about.default_game, about.default_run) == ("tic-tac-toe", "given")
    services.close()


def test_a_game_file_is_one_game_by_its_relative_and_its_absolute_path(
    tmp_path_factory, tmp_path, monkeypatch
):
    run = copy_finished(tmp_path_factory, tmp_path / "race")
    (tmp_path / "race.py").write_text(
        "from plainzero.games.bundled.tic_tac_toe import TicTacToe\n\n\n"
        "class Race(TicTacToe):\n    pass\n"
    )
    config = (run / "config.toml").read_text()
    assert 'game = "tic-tac-toe"' in config
    absolute = f'game = "{tmp_path}/race.py:Race"'
    (run / "config.toml").write_text(config.replace('game = "tic-tac-toe"', absolute))
    monkeypatch.chdir(tmp_path)
    options = ServerOptions(runs=(run,), games=("race.py:Race",), home=tmp_path / "none")
    services = Services(options)
    about = services.about()
    assert (about.default_game, about.default_run) == ("race", "race")
    assert [info.name for info in services.catalogue.infos() if info.is_own] == ["race"]
    services.close()


def test_runs_are_closed_even_where_searches_cannot_be(tmp_path):
    services, closed = serve_home(tmp_path), []
    services.runs.close = lambda: closed.append(True) or []
    services.scheduler.running = None  # so that closing them fails
    with pytest.raises(TypeError):
        services.close()
    assert closed


@pytest.mark.parametrize(
    ("minutes", "words"), [(1.0, "for 1 minute;"), (1.5, "for 1.5 minutes;"), (20.0, "20 minutes;")]
)
def test_one_minute_is_singular(minutes, words, tmp_path, monkeypatch):
    services = serve_home(tmp_path)
    monkeypatch.setattr(services.runs, "start", lambda request: SimpleNamespace(run="mine"))
    assert words in services.train(minutes)
    services.close()


def test_closing_says_how_to_resume_what_it_stopped(tmp_path, monkeypatch):
    said = []
    monkeypatch.chdir(tmp_path)
    services = Services(ServerOptions(home=tmp_path / "runs"), said.append)
    paths = [tmp_path / "runs" / name for name in ("mine", "empty")]
    for path in paths:
        path.mkdir(parents=True)
    (paths[0] / "config.toml").write_text("")
    services.runs.close = lambda: paths
    services.close()
    assert said == [
        "Saved in runs/mine; resume it with `plainzero train runs/mine`",
        "Stopped empty before there was anything to save",
    ]
