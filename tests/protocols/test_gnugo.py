"""Whole games of Go against GNU Go: no illegal move, no hang, and the same score as ours."""

import numpy as np
import pytest
from missing_programs import do_without

from plainzero import make_game
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.match import MatchSettings, play_match
from plainzero.arena.openings import Opening
from plainzero.opponents.agent import GameHistory
from plainzero.protocols.engine_process import EngineFailed, find_program
from plainzero.protocols.gtp.engine import GtpEngine

pytestmark = pytest.mark.slow

GAME = make_game("go(size=7,komi=7.5)")
# It captures dead stones before it passes, because our score counts all stones as alive.
COMMAND = (
    "gnugo --mode gtp --level 1 --seed 1 --chinese-rules --positional-superko "
    "--capture-all-dead --play-out-aftermath"
)


@pytest.fixture(scope="module")
def gnugo(pytestconfig):
    """The command that starts GNU Go."""
    try:
        find_program("gnugo")
    except EngineFailed as failure:
        do_without(pytestconfig, f"{failure}; in Debian it is the package gnugo")
    return COMMAND


@pytest.fixture(scope="module")
def result(gnugo):
    """Games from a few openings against random play, the fastest opponent."""
    generator, openings = np.random.default_rng(5), []
    for _ in range(3):
        state, actions = GAME.new_state(), []
        for _ in range(4):
            actions.append(int(generator.choice(GAME.legal(state)[:-1])))
            GAME.apply(state, actions[-1])
        openings.append(Opening(tuple(actions), state))
    engine = parse_agent(f"gtp[engines=2]:{gnugo}", GAME)
    plan = MatchSettings(openings=tuple(openings))
    found = play_match(GAME, (engine, parse_agent("random", GAME)), plan)
    engine.close()
    return found


def test_games_end_without_a_fault_and_gnugo_wins_them(result):
    assert result.tally.games == 6 and result.faults == ([], [])
    assert result.tally.wins == 6


def test_our_score_is_gnugos(result, gnugo):
    engine = GtpEngine(GAME, gnugo)
    for record in result.records:
        score, lead = final_scores(engine, record)
        assert score == f"{'B' if lead > 0 else 'W'}+{abs(lead):.1f}"
        assert (lead > 0) == (record.returns[0] > 0)
    engine.close()


def final_scores(engine, record):
    """The engine's score of a finished game, and black's lead by our count."""
    state, movers = GAME.new_state(), []
    moves = [*record.opening, *record.moves]
    for action in moves:
        movers.append(int(state.to_play))
        GAME.apply(state, action)
    assert state.is_over
    engine.follow(GameHistory(0, moves, movers, state))
    return engine.ask("final_score"), GAME.area_lead(state)
