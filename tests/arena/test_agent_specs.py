"""Agents from their specs."""

import numpy as np
import pytest
from arena_agents import CONNECT_FOUR, TIC_TAC_TOE, TRIO

from plainzero import SearchConfig
from plainzero.arena.agent_specs import game_of_agents, parse_agent
from plainzero.opponents.book_agent import BookAgent
from plainzero.opponents.search_agent import NetworkAgent, SearchAgent, child_seed
from plainzero.search.config import ignored_options, with_options


@pytest.fixture
def states():
    generator, found = np.random.default_rng(2), []
    for plies in (0, 1, 2, 3, 4, 4, 4):
        state = TIC_TAC_TOE.new_state()
        for _ in range(plies):
            TIC_TAC_TOE.apply(state, int(generator.choice(TIC_TAC_TOE.legal(state))))
        found.append(state)
    return found


@pytest.mark.parametrize(
    "spec",
    [
        "random",
        "uct:30",
        "puct:30",
        "alphabeta:3",
        "perfect",
        "uct:20,c_uct=0.5",
        "puct:9,fpu=parent",
    ],
)
def test_every_agent_chooses_legal_moves_reproducibly(spec, states):
    agent = parse_agent(spec, TIC_TAC_TOE)
    actions = agent.choose(states, seed=4)
    assert actions == agent.choose(states, seed=4)
    for state, action in zip(states, actions, strict=True):
        assert action in TIC_TAC_TOE.legal(state)
    assert agent.name == spec


def test_search_agents_have_their_evaluator_and_options():
    uct, puct = (parse_agent(s, CONNECT_FOUR) for s in ("uct:1000,c_uct=1", "puct:400"))
    assert (uct.evaluator, uct.config) == ("rollout", SearchConfig(simulations=1000, c_uct=1.0))
    assert (puct.evaluator, puct.config) == ("uniform", SearchConfig(simulations=400))


def test_any_agent_takes_the_opening_book_as_an_option():
    start = CONNECT_FOUR.new_state()
    agents = {
        spec: parse_agent(spec, CONNECT_FOUR)
        for spec in (
            "uct:1,book",
            "uct:1,book,c_uct=3",
            "puct:1,fpu=parent, book",
            "alphabeta:1,book",
        )
    }
    for spec, agent in agents.items():
        assert isinstance(agent, BookAgent) and agent.name == spec
        assert agent.choose([start], 0) == [3]
    assert agents["uct:1,book,c_uct=3"].agent.config.c_uct == 3.0
    assert agents["puct:1,fpu=parent, book"].agent.config.fpu == "parent"
    assert parse_agent("uct:1", CONNECT_FOUR).choose([start], 0) == [0]
    with pytest.raises(ValueError, match="there is no opening book for tic-tac-toe"):
        parse_agent("uct:1,book", TIC_TAC_TOE)
    with pytest.raises(ValueError, match="unknown option 'book'"):
        parse_agent("uct:1,book=1", CONNECT_FOUR)


def test_chunks_that_fit_in_memory_change_nothing_but_the_seeds(states):
    small = parse_agent("puct:50,max_bytes=20000", TIC_TAC_TOE)
    large = parse_agent("puct:50", TIC_TAC_TOE)
    assert small.choose(states, 1) == large.choose(states, 1)


def test_runs_play_by_folder_step_and_simulations(untrained_run, states):
    newest, old, raw, tuned = (
        parse_agent(f"run:{untrained_run}{rest}", TIC_TAC_TOE)
        for rest in (":20", "@0:20", ":0", "@10:20,c_puct=3")
    )
    assert isinstance(raw, NetworkAgent) and isinstance(tuned, SearchAgent)
    assert newest.config.simulations == 20 and newest.config.noise_weight == 0.0
    assert tuned.config.c_puct == 3.0
    for agent in (newest, old, raw, tuned):
        for state, action in zip(states, agent.choose(states, 0), strict=True):
            assert action in TIC_TAC_TOE.legal(state)
    planes = np.stack([TIC_TAC_TOE.observation(state) for state in states])
    assert not np.allclose(newest.evaluator(planes)[0], old.evaluator(planes)[0])
    assert game_of_agents(["random", f"run:{untrained_run}:5"]) == TIC_TAC_TOE
    assert game_of_agents(["random", "uct:5"]) is None


def test_the_network_alone_plays_the_legal_move_of_the_largest_logit():
    def evaluator(planes):
        return np.tile(np.arange(9.0, dtype=np.float32), (len(planes), 1)), np.zeros(len(planes))

    state = TIC_TAC_TOE.new_state()
    TIC_TAC_TOE.apply(state, 8)
    agent = NetworkAgent("n", TIC_TAC_TOE, evaluator)
    assert agent.choose([TIC_TAC_TOE.new_state(), state], 0) == [8, 7]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("strong", "unknown agent 'strong'; agents are random, perfect, uct, puct, alphabeta"),
        ("rando", "unknown agent 'rando'; did you mean random?"),
        ("uctt:100", "unknown agent 'uctt'; did you mean uct?"),
        ("gto:gnugo", "unknown agent 'gto'; did you mean gtp?"),
        ("uct", "uct needs a number of simulations, as in uct:1000"),
        ("puct:", "puct needs a number of simulations, as in puct:1000"),
        ("uct:,c_uct=1", "uct needs a number of simulations"),
        ("alphabeta", "alphabeta needs a depth, as in alphabeta:6"),
        ("bundled", "bundled needs a number of simulations, as in bundled:200"),
        ("uct:many", "uct:many: simulations must be a whole number of 1 or more, not 'many'"),
        ("uct:0", "simulations must be a whole number of 1 or more, not '0'"),
        ("uct:²", "simulations must be a whole number of 1 or more, not '²'"),
        ("alphabeta:-3", "depth must be a whole number of 1 or more, not '-3'"),
        ("random:3", "random takes no argument; write random instead of 'random:3'"),
        ("uct:9,c_uct", "'c_uct' must be option=value"),
        ("uct:9,speed=3", "unknown option 'speed'"),
        ("uct:9,c_puct=3", "c_puct only applies with"),
        ("alphabeta:3,seconds=x", "seconds must be a number, not 'x'"),
        ("run", "must name a folder and a number of simulations, as in run:runs/first:200"),
        ("run:nowhere", "must name a folder and a number of simulations, as in run:nowhere:200"),
        ("run:nowhere:many", "and a number of simulations, as in run:nowhere:200"),
        ("gtp", "gtp needs a command, as in gtp:gnugo --mode gtp"),
        ("run:nowhere:10", "there is no run folder nowhere"),
    ],
)
def test_invalid_specs_are_refused_in_one_sentence(spec, words):
    with pytest.raises(ValueError) as caught:
        parse_agent(spec, TIC_TAC_TOE)
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_run_of_another_game_is_refused(untrained_run):
    with pytest.raises(ValueError, match="is a run of tic-tac-toe, not of trio"):
        parse_agent(f"run:{untrained_run}:10", TRIO)


def test_the_network_alone_has_no_search_options(untrained_run):
    with pytest.raises(ValueError, match="does not search, so it takes no search options"):
        parse_agent(f"run:{untrained_run}:0,c_puct=2", TIC_TAC_TOE)


def test_child_seeds_differ():
    assert len({child_seed(a, b) for a in range(30) for b in range(30)}) == 900


def test_a_run_may_average_over_the_symmetries_of_the_board(untrained_run):
    game = TIC_TAC_TOE
    plain = parse_agent(f"run:{untrained_run}:8", game)
    averaged = parse_agent(f"run:{untrained_run}:8,symmetries,c_puct=2", game)
    assert averaged.config.c_puct == 2.0
    state = game.new_state()
    game.apply(state, 0)
    planes = game.observation(state)[None]
    turned = np.ascontiguousarray(game.symmetries()[0].planes(planes[0]))[None]
    _, values = averaged.evaluator(np.concatenate([planes, turned]))
    assert values[0] == values[1]  # exactly, because both orientations are averaged
    assert plain.evaluator(planes)[0].shape == averaged.evaluator(planes)[0].shape


@pytest.mark.parametrize("selection", ["uct", "puct", "puct-log", "gumbel"])
def test_a_run_can_be_played_by_any_selection(selection, untrained_run, states):
    agent = parse_agent(f"run:{untrained_run}:8,selection={selection}", TIC_TAC_TOE)
    for state, action in zip(states, agent.choose(states, seed=4), strict=True):
        assert action in TIC_TAC_TOE.legal(state)


def test_ignored_options_of_a_run_are_dropped_unless_given_explicitly():
    base = SearchConfig(simulations=8, selection="puct", fpu="parent", choice="lcb")
    assert with_options(base, {"selection": "gumbel"}) == SearchConfig(8, selection="gumbel")
    assert with_options(base, {"c_puct": 2.0}).fpu == "parent"
    kept = with_options(base, {"selection": "uct", "fpu": "zero"})
    assert (kept.fpu, kept.choice) == ("zero", "lcb")
    assert "fpu" in ignored_options(kept)
