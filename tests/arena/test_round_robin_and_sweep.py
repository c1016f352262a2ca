"""Round robins, sweeps and their plots."""

import xml.etree.ElementTree

import numpy as np
import pytest
from arena_agents import CONNECT_FOUR, TIC_TAC_TOE

from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.match import MatchSettings
from plainzero.arena.plots import plot_ratings, plot_sweep
from plainzero.arena.round_robin import play_round_robin
from plainzero.arena.sweep import parse_values, sweep
from plainzero.opponents.perfect import move_outcomes
from plainzero.opponents.solved_positions import PositionSet


def agents(*specs, game=CONNECT_FOUR):
    return [parse_agent(spec, game) for spec in specs]


def is_picture(svg, png):
    assert xml.etree.ElementTree.parse(svg).getroot().tag.endswith("svg")
    return png.read_bytes().startswith(b"\x89PNG")


def test_more_simulations_are_rated_higher(tmp_path):
    results = play_round_robin(
        CONNECT_FOUR, agents("random", "uct:10", "uct:100", "uct:1000"), MatchSettings(30)
    )
    elo = results.ratings.elo
    assert elo[0] == 0 and list(elo) == sorted(elo)
    assert (np.diff(elo) > 50).all() and len(results.results) == 6
    assert is_picture(*plot_ratings(results.ratings, "Connect Four", tmp_path / "ladder.svg"))


def test_a_round_robin_that_ends_early_rates_the_connected_agents():
    seen = []
    results = play_round_robin(
        TIC_TAC_TOE,
        agents("random", "uct:5", "uct:20", game=TIC_TAC_TOE),
        MatchSettings(10),
        progress=lambda who, done, total: seen.append((who, done, total)),
        stop=lambda: bool(seen) and seen[-1][1] >= 20,
    )
    assert len(results.results) == 2 and len(results.ratings.names) == 3
    assert seen[0][0] == "random – uct:5" and seen[0][2] == 30


def test_a_round_robin_that_ended_too_early_says_so():
    with pytest.raises(ValueError, match="has no games"):
        play_round_robin(
            TIC_TAC_TOE,
            agents("random", "uct:5", game=TIC_TAC_TOE),
            MatchSettings(10),
            stop=lambda: True,
        )


@pytest.mark.parametrize("specs", [["random"], ["random", "uct:5", "random"]])
def test_a_round_robin_needs_different_agents(specs):
    with pytest.raises(ValueError, match=r"two or more agents|is given 2 times"):
        play_round_robin(TIC_TAC_TOE, agents(*specs, game=TIC_TAC_TOE), MatchSettings(2))


def solved(count):
    generator, states = np.random.default_rng(5), []
    while len(states) < count:
        state = TIC_TAC_TOE.new_state()
        for _ in range(4):
            TIC_TAC_TOE.apply(state, int(generator.choice(TIC_TAC_TOE.legal(state))))
        states.append(state)
    batch = np.array(states, TIC_TAC_TOE.dtype)
    return PositionSet(batch, move_outcomes(TIC_TAC_TOE, batch), batch["turn"].astype(np.int32))


def test_a_sweep_of_simulations_grows(tmp_path):
    agent, known = parse_agent("uct:100", TIC_TAC_TOE), solved(100)
    rows = sweep(agent, "simulations", [2, 20, 100, 1000], MatchSettings(60), known)
    assert rows[2].match is None  # the default
    assert rows[0].match.estimate.elo < rows[1].match.estimate.elo < rows[3].match.estimate.elo
    errors = [row.accuracy.total.error_rate.mean for row in rows]
    assert errors[0] > errors[1] > errors[3]
    openings = [{r.opening for r in row.match.records} for row in rows if row.match]
    assert openings[0] == openings[1] == openings[2]
    assert is_picture(*plot_sweep(rows, "simulations", 100, "Tic-tac-toe", tmp_path / "s.png"))


def test_a_sweep_of_words_can_be_plotted_and_stopped(tmp_path):
    agent = parse_agent("puct:30", TIC_TAC_TOE)
    rows = sweep(agent, "fpu", ["zero", "parent"], MatchSettings(8))
    assert [row.value for row in rows] == ["zero", "parent"]
    assert is_picture(*plot_sweep(rows, "fpu", "auto", "Tic-tac-toe", tmp_path / "s"))

    def stop(what, done, total):
        assert what.startswith("fpu=zero: games")
        raise StopIteration

    assert sweep(agent, "fpu", ["zero", "parent"], MatchSettings(8), progress=stop) == []


def test_values_are_parsed_by_the_type_of_the_option():
    assert parse_values("c_puct", "0.5, 1,2,1") == [0.5, 1.0, 2.0]
    assert parse_values("simulations", "10,20") == [10, 20]
    for bad in ("c_puct=x", "c_puct= , ", "nothing=1"):
        with pytest.raises(ValueError):
            parse_values(*bad.split("="))


def test_invalid_values_are_refused_before_any_game():
    agent = parse_agent("uct:10", TIC_TAC_TOE)
    with pytest.raises(ValueError, match="c_puct only applies with"):
        sweep(agent, "c_puct", [2.0], MatchSettings(2))
