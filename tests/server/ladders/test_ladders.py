"""Ladders on the server: which one is shown, who can be played, and placing a run."""

import pytest
from small_runs import copy_finished, wait_until

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.ladder import Ladder, Pair
from plainzero.arena.ladder_agents import natural_agents
from plainzero.arena.ladder_files import bundled_ladder, write_ladder
from plainzero.arena.ladder_games import begin_ladder
from plainzero.server.api.schemas.ladders import PlaceRun
from plainzero.server.api.schemas.searching import NetworkAgent, SearchAgent
from plainzero.server.ladders.reader import to_agent
from plainzero.server.options import ServerOptions
from plainzero.server.services import Services

GAME = make_game("tic-tac-toe")
RUN = "run:{folder}:20"


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The folders of the runs and of the ladders."""
    folder = tmp_path_factory.mktemp("server")
    copy_finished(tmp_path_factory, folder / "runs" / "finished")
    return folder / "runs", folder / "ladders"


@pytest.fixture
def ladders(places):
    """The service, with a ladder on which the run stands, whose name holds its folder."""
    runs, folder = places
    run = RUN.format(folder=runs / "finished")
    agents = dict.fromkeys(["uct:1000", "random", run, "gtp:/opt/engines/best --fast"], "")
    pairs = (
        Pair("uct:1000", "random", 17, 2, 1, 10, 33.0),
        Pair(run, "random", 12, 2, 6, 10, 20.0),
        Pair("uct:1000", "gtp:/opt/engines/best --fast", 5, 0, 5, 5, 6.0),
    )
    openings = begin_ladder(GAME, "uct:1000", 0).openings
    ladder = Ladder("tic-tac-toe", "uct:1000", 0, openings, agents, pairs, 60.0)
    write_ladder(ladder, folder / "tic-tac-toe.json")
    services = Services(ServerOptions(home=runs, ladders=folder, niceness=0))
    yield services.ladders
    services.close()


def test_a_users_own_ladder_is_shown_without_paths(ladders, places):
    shown = ladders.show("tic-tac-toe")
    assert "tic-tac-toe" in ladders.games() and not shown.is_bundled and shown.command == ""
    assert [rung.label for rung in shown.rungs][-1] == "random"
    by_label = {rung.label: rung for rung in shown.rungs}
    assert by_label["best"].agent is None
    assert by_label["run:finished:20"].agent == SearchAgent(
        evaluator="network", run="finished", simulations=20
    )
    assert str(places[0]) not in shown.model_dump_json() and "/opt" not in shown.model_dump_json()
    first = next(pair for pair in shown.pairs if shown.rungs[pair.first].label == "uct:1000")
    assert first.wins >= first.losses and 0.5 <= first.expected < 1


def test_bundled_ladders_are_shown_for_default_parameters_only(ladders):
    bundled = bundled_ladder(make_game("connect-four"))
    shown = ladders.show("connect-four")
    assert shown.is_bundled and shown.games == bundled.games
    assert shown.command == bundled.made["command"] and shown.made.startswith("20")
    assert ladders.show("connect-four(rows=4,cols=4)") is None
    assert "connect-four" in ladders.games() and "pig" not in ladders.games()


def test_a_damaged_ladder_is_an_error_in_one_sentence(ladders, places):
    (places[1] / "tic-tac-toe.json").write_text('{"format": "plainzero-ladder-1"}')
    with pytest.raises(ValueError, match="is a damaged ladder"):
        ladders.show("tic-tac-toe")


def test_every_natural_agent_but_engines_and_networks_alone_can_be_played():
    for name in ("connect-four", "gomoku", "go"):
        for spec in natural_agents(make_game(name)):
            agent = to_agent(spec, lambda _: None)
            assert (agent is None) == (spec.startswith("gtp") or spec == "bundled:0")
    assert to_agent("uct:100,c_uct=2", lambda _: None) is None
    assert to_agent("alphabeta:3,seconds=1", lambda _: None) is None


def test_runs_are_found_by_their_folders():
    def name_of(folder):
        return {"x/a@b": "ab"}.get(str(folder))

    assert to_agent("run:x/a@b@7:0", name_of) == NetworkAgent(run="ab", step=7)
    assert to_agent("run:x/a@b:5", name_of) == SearchAgent(
        evaluator="network", run="ab", simulations=5
    )
    assert to_agent("run:elsewhere:5", name_of) is None


def test_an_agent_of_the_page_is_the_agent_of_the_ladder():
    """The search of the API, without its defaults, chooses as the ladder's does."""
    agent, spec = (
        to_agent("threats:400", lambda _: None),
        parse_agent("threats:400", make_game("gomoku")),
    )
    assert agent.simulations == spec.config.simulations and agent.options == {}


def test_a_run_is_placed_by_games_that_the_ladder_then_shows(ladders, places):
    path = places[1] / "tic-tac-toe.json"
    before = ladders.show("tic-tac-toe")
    request = PlaceRun(game="tic-tac-toe", run="finished", simulations=7, minutes=60)
    begun = ladders.place(request)  # ends when it has met all others from every opening
    assert begun.placement.run == "finished" and begun.placement.state == "running"
    with pytest.raises(ValueError, match="finished is being placed"):
        ladders.place(request)
    wait_until(lambda: ladders.show("tic-tac-toe").placement.state != "running")
    after = ladders.show("tic-tac-toe")
    assert (after.placement.state, after.placement.message) == ("finished", "")
    placed = next(rung for rung in after.rungs if rung.label == "run:finished:7")
    dropped = 20  # those of run:finished:20, which were played with unknown weights
    assert placed.games == after.games - before.games + dropped > 0
    assert placed.agent.run == "finished" and path.is_file()


def test_a_placement_that_fails_says_why(ladders, places):
    text = (places[1] / "tic-tac-toe.json").read_text()
    (places[1] / "tic-tac-toe.json").write_text(text.replace('"seed": 0', '"seed": "x"'))
    assert ladders._placements.find("tic-tac-toe") is None
    ladders._placements.start("tic-tac-toe", "finished", ["tic-tac-toe", "run:nowhere:1"])
    wait_until(lambda: ladders._placements.find("tic-tac-toe").state != "running")
    message = ladders._placements.find("tic-tac-toe").message
    assert message.startswith("there is no run folder nowhere")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"run": "nobody"}, "unknown run 'nobody'"),
        ({"game": "connect-four"}, "is a run of tic-tac-toe, not of connect-four"),
        ({"game": "pig"}, "there is no ladder of pig yet"),
    ],
)
def test_runs_that_cannot_be_placed_are_refused(ladders, change, words):
    request = PlaceRun(**{"game": "tic-tac-toe", "run": "finished", **change})
    with pytest.raises(ValueError, match=words):
        ladders.place(request)


def test_nobody_places_runs_where_training_is_disabled(places):
    runs, folder = places
    options = ServerOptions(home=runs, ladders=folder, can_train=False)
    services = Services(options)
    with pytest.raises(ValueError, match="training is disabled"):
        services.ladders.place(PlaceRun(game="connect-four", run="finished"))
    assert services.ladders.show("connect-four").can_place is False
    services.close()
