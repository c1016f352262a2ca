"""Yardsticks: one figure for an agent, against results known in other ways."""

from pathlib import Path

import numpy as np
import pytest

from plainzero import make_game, search
from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.yardsticks.choose import yardstick_of
from plainzero.arena.yardsticks.kept_outcomes import KeptOutcomes
from plainzero.arena.yardsticks.largest_tile import LargestTile
from plainzero.arena.yardsticks.match_score import MatchScore
from plainzero.arena.yardsticks.measurement import Effort
from plainzero.arena.yardsticks.named_winner import NamedWinner, names_winner
from plainzero.arena.yardsticks.win_chance import WinChance
from plainzero.games.bundled.pig import HOLD, ROLL
from plainzero.games.contract import CHANCE
from plainzero.games.registry import bundled_games
from plainzero.opponents.exact_values import exact_values
from plainzero.opponents.perfect import move_outcomes
from plainzero.opponents.search_agent import NetworkAgent
from plainzero.opponents.solved_positions import (
    PositionError,
    bundled_positions,
    read_positions,
)
from plainzero.opponents.won_positions import bundled_won_positions, read_won_positions
from plainzero.search.config import SearchConfig

OPENINGS = Path(__file__).parents[3] / "shared" / "data" / "hex" / "openings_6x6.csv"
HEX = make_game("hex(size=6)")
PIG = make_game("pig(target=8,die=4,horizon=30)")


# ---- matches ------------------------------------------------------------------------------------


def test_perfect_play_never_loses_and_random_play_does():
    game, effort = make_game("tic-tac-toe"), Effort(games=20, seed=1)
    yardstick = MatchScore("perfect", counts_draws=True)
    found = yardstick.measure(game, parse_agent("perfect", game), effort)
    assert found.figure == 1.0 and found.more["lost"] == 0 and found.interval[0] > 0.5
    assert MatchScore("perfect").measure(game, parse_agent("perfect", game), effort).figure == 0.5
    weak = yardstick.measure(game, parse_agent("random", game), effort)
    more = weak.more
    assert weak.figure == pytest.approx(1 - more["lost"] / sum(more.values())) and weak.figure < 0.8


# ---- solved positions ---------------------------------------------------------------------------


def test_random_moves_keep_the_outcome_as_often_as_good_moves_are_many():
    game = make_game("dots-and-boxes")
    known = read_positions(game, bundled_positions(game))
    is_legal = known.outcomes >= -1
    good = (known.outcomes == known.outcomes.max(axis=1)[:, None]) & is_legal
    expected = (good.sum(axis=1) / is_legal.sum(axis=1)).mean()
    found = KeptOutcomes().measure(game, parse_agent("random", game), Effort(seed=2))
    assert found.sample == "300 positions"
    assert found.interval[0] < expected < found.interval[1]
    perfect = KeptOutcomes().measure(game, parse_agent("perfect", game), Effort(games=2))
    assert (perfect.figure, perfect.sample) == (1.0, "50 positions")


@pytest.mark.parametrize("boxes", [2, 3])
def test_the_bundled_positions_of_dots_and_boxes_are_decisive_and_solved_right(boxes):
    game = make_game(f"dots-and-boxes(rows={boxes},cols={boxes})")
    known = read_positions(game, bundled_positions(game))
    for row in known.outcomes:
        assert len({*row[row >= -1]}) > 1
    late = np.flatnonzero(known.plies >= game.max_turns // 2)[::10]
    assert len(late) > 10
    assert np.array_equal(move_outcomes(game, known.states[late]), known.outcomes[late])


def test_the_first_player_wins_2x2_boxes_only_by_an_outer_line_as_is_well_known():
    """Puzzling Stack Exchange, "Optimal play for 2 by 2 Dots and Boxes": inner lines draw."""
    game = make_game("dots-and-boxes")
    known = read_positions(game, bundled_positions(game))
    (empty,) = known.outcomes[known.plies == 0]
    inner = {game.parse_action(name) for name in ("a2-b2", "b2-c2", "b1-b2", "b2-b3")}
    assert empty.tolist() == [0 if action in inner else 1 for action in range(12)]


# ---- exact chances ------------------------------------------------------------------------------


class HoldsAt:
    """Pig: holds as soon as the turn's total is `points`, or enough to win."""

    name = "holds"

    def __init__(self, points):
        self.points = points

    def choose(self, states, seed):
        return [
            HOLD if s.total >= min(self.points, PIG.target - s.scores[s.to_play]) else ROLL
            for s in states
        ]


def chance_against_perfect_play(agent, seat):
    """The agent's chance to win at PIG, by recursion over all that can follow."""
    values, known = exact_values(PIG), {}

    def chance(state):
        if state.is_over:
            return (1 + float(state.returns[seat])) / 2
        key = state.tobytes()
        if key not in known:
            known[key] = following(state)
        return known[key]

    def following(state):
        if state.to_play == CHANCE:
            return sum(p * chance(after(state, outcome)) for outcome, p in PIG.chances(state))
        if state.to_play == seat:
            return chance(after(state, agent.choose([state], 0)[0]))
        return chance(after(state, int(np.nanargmax(values.moves(state)))))

    return chance(PIG.new_state())


def after(state, action):
    state = PIG.copy(state)
    PIG.apply(state, action)
    return state


@pytest.mark.parametrize("points", [1, 3])
def test_the_share_of_the_optimal_chance_is_what_exact_evaluation_gives(points):
    agent = HoldsAt(points)
    expected = sum(chance_against_perfect_play(agent, seat) for seat in (0, 1))
    found = WinChance().measure(PIG, agent, Effort(games=100, seed=3))
    assert found.interval[0] < expected < found.interval[1] < 1
    assert found.interval[1] - found.interval[0] < 0.1  # a score of 500 games: 0.17
    assert found.sample.startswith("500 games, ")
    assert 0 < found.more["chance lost per move"] < found.more["moves that lose chances"]


@pytest.mark.parametrize("name", [PIG.name, "sensor-jammer(sectors=5,rings=3,rounds=4)"])
def test_perfect_play_has_the_optimal_chance(name):
    game = make_game(name)
    found = WinChance().measure(game, parse_agent("perfect", game), Effort(games=4))
    assert found.figure == pytest.approx(1.0) and found.interval[0] < 0.9
    random = WinChance().measure(game, parse_agent("random", game), Effort(games=10))
    assert random.interval[1] < 0.95


# ---- winners ------------------------------------------------------------------------------------


def test_an_evaluator_that_knows_the_outcomes_names_every_winner():
    known = read_won_positions(HEX, bundled_won_positions(HEX))
    values = {
        HEX.observation(state).tobytes(): float(outcome)
        for state, outcome in zip(known.states, known.outcomes, strict=True)
    }

    def evaluator(planes):
        answers = np.array([values[row.tobytes()] for row in planes])
        return np.zeros((len(planes), HEX.num_actions), np.float32), answers

    agent = NetworkAgent("oracle", HEX, evaluator)
    assert NamedWinner().measure(HEX, agent, Effort()).figure == 1.0
    named = names_winner(agent, known.states, -known.outcomes, Effort())
    assert not named.any()
    with pytest.raises(ValueError, match="random gives no value"):
        NamedWinner().measure(HEX, parse_agent("random", HEX), Effort())


def test_a_search_names_most_winners():
    found = NamedWinner().measure(HEX, parse_agent("uct:200", HEX), Effort(seed=1))
    assert found.interval[0] > 0.6


def test_the_bundled_winners_are_balanced_and_all_different():
    known = read_won_positions(HEX, bundled_won_positions(HEX))
    assert abs(known.outcomes.mean()) < 0.1 and set(known.outcomes) == {-1, 1}
    assert len({HEX.observation(state).tobytes() for state in known.states}) == len(known.states)


@pytest.mark.slow
def test_a_search_without_templates_proves_late_winners_again():
    known = read_won_positions(HEX, bundled_won_positions(HEX))
    late = np.flatnonzero(known.states["turn"] == 12)[::3]
    config = SearchConfig(simulations=200_000, proven_values=True)
    results = [search(HEX, known.states[row], "rollout", config, seed=1) for row in late]
    proven = [
        (r.value, known.outcomes[row]) for r, row in zip(results, late, strict=True) if r.proven
    ]
    assert len(proven) >= 2 and all(value == outcome for value, outcome in proven)


@pytest.mark.skipif(not OPENINGS.exists(), reason="needs the table of openings in ../shared/data")
def test_the_bundled_openings_agree_with_the_published_table():
    table = dict(line.split(",") for line in OPENINGS.read_text().split())
    known = read_won_positions(HEX, bundled_won_positions(HEX))
    openings = np.flatnonzero(known.states["turn"] == 1)
    for row in openings:
        stone = HEX.action_name(int(np.flatnonzero(HEX.observation(known.states[row])[1])[0]))
        assert table[stone] == ("white" if known.outcomes[row] > 0 else "black")
    assert len(openings) >= 10


def test_invalid_lines_are_named(tmp_path):
    file = tmp_path / "set.csv"
    for text, words in (
        ("moves,outcome\na1 b2,X\n", "line 2: 'a1 b2,X' is not of the form moves,outcome"),
        ("moves,outcome\na1 a1,W\n", "line 2: "),
        ("", "cannot be read"),
    ):
        file.write_text(text)
        with pytest.raises(PositionError, match=words):
            read_won_positions(HEX, file)


# ---- 2048 ---------------------------------------------------------------------------------------


def chance_by_random_moves(game, state, known):
    if state.is_over:
        return float(state.board.max() == game.goal)
    key = state.tobytes()
    if key not in known:
        steps = (
            game.chances(state)
            if state.to_play == CHANCE
            else [(action, 1 / len(game.legal(state))) for action in game.legal(state)]
        )
        total = 0.0
        for action, probability in steps:
            follower = game.copy(state)
            game.apply(follower, action)
            total += probability * chance_by_random_moves(game, follower, known)
        known[key] = total
    return known[key]


def test_the_share_of_games_that_reach_the_tile_is_that_of_exact_recursion():
    game = make_game("2048(size=2,target=16)")
    expected = chance_by_random_moves(game, game.new_state(), {})
    found = LargestTile().measure(game, parse_agent("random", game), Effort(games=400, seed=1))
    assert found.interval[0] < expected < found.interval[1]
    assert found.more["reach 16"] == found.figure <= found.more["reach 8"] <= 1
    assert 4 <= found.more["mean score"] <= game.par * 2


# ---- which game has which -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", [*bundled_games(), "hex(size=6)", "dots-and-boxes(rows=3,cols=3)"])
def test_every_bundled_game_has_a_yardstick_that_fits(name):
    game = make_game(name)
    yardstick = yardstick_of(game)
    yardstick.check(game)
    assert yardstick.name and (yardstick.target is not None or name == "go")


def test_other_games_are_measured_against_uct():
    assert yardstick_of(make_game("gomoku(size=9)")) == MatchScore("uct:1000", target=0.8)
    assert yardstick_of(make_game("pig")) == WinChance(target=0.99)


@pytest.mark.parametrize(
    ("yardstick", "words"),
    [
        (KeptOutcomes(), "no bundled positions of trio"),
        (WinChance(), "no exact values of trio"),
        (NamedWinner(), "no bundled positions of trio"),
        (LargestTile(), "trio has no tiles"),
        (MatchScore("threats:400"), "threats"),
    ],
)
def test_a_yardstick_refuses_games_that_it_does_not_fit(yardstick, words):
    with pytest.raises(ValueError, match=words):
        yardstick.check(make_game("trio"))
