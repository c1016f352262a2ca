"""Matches: both colours of every opening, repeated games counted once, records that replay."""

import collections
import json

import pytest
from arena_agents import CONNECT_FOUR, TIC_TAC_TOE, TINY_2048, TRIO, Highest, Lowest

from plainzero.arena.agent_specs import parse_agent
from plainzero.arena.match import MatchSettings, play_match, seatings
from plainzero.arena.match_files import read_match_games, save_games


def play(game, a, b, games=20, **options):
    agents = tuple(parse_agent(x, game) if isinstance(x, str) else x for x in (a, b))
    return play_match(game, agents, MatchSettings(games, **options))


def test_seatings_give_each_agent_each_seat_equally_often():
    assert seatings(1) == [(0,), (1,)]
    assert seatings(2) == [(0, 1), (1, 0)]
    for players in (3, 4, 5):
        for seat in zip(*seatings(players), strict=True):
            assert collections.Counter(seat)[0] == players


@pytest.mark.parametrize("game", [CONNECT_FOUR, TRIO, TIC_TAC_TOE])
def test_every_opening_is_played_from_all_seats(game):
    result = play(game, "uct:20", "random", 24)
    for records in result.rounds:
        assert len({record.opening for record in records}) == 1
        assert sorted(record.seats for record in records) == sorted(seatings(game.num_players))


def test_neither_agent_moves_first_more_often():
    result = play(CONNECT_FOUR, "random", "uct:5", 50)
    assert collections.Counter(record.seats[0] for record in result.records) == {0: 25, 1: 25}
    assert [tally.games for tally in result.tally_by_seat] == [25, 25]


def test_deterministic_agents_play_no_game_twice():
    result = play(CONNECT_FOUR, Lowest(CONNECT_FOUR), Highest(CONNECT_FOUR), 80)
    assert len(result.records) == 80 and result.copies == 0
    assert len({record.opening for record in result.records}) == 40


def test_copies_are_counted_if_the_game_has_too_few_openings():
    result = play(TIC_TAC_TOE, Lowest(TIC_TAC_TOE), Highest(TIC_TAC_TOE), 100, plies=1)
    assert len(result.scores_by_opening) == 3  # corner, edge, centre
    assert result.copies == 100 - 2 * 3 == result.as_dict()["copies"]
    once = play(TIC_TAC_TOE, Lowest(TIC_TAC_TOE), Highest(TIC_TAC_TOE), 6, plies=1)
    width = [r.estimate.score_high - r.estimate.score_low for r in (result, once)]
    assert width[0] > 0.7 * width[1]  # a hundred games, but hardly more certain


def test_one_opening_with_the_same_games_has_no_interval():
    result = play(TIC_TAC_TOE, Lowest(TIC_TAC_TOE), Highest(TIC_TAC_TOE), 20, plies=0)
    assert result.copies == 18 and result.tally.games == 20
    assert not result.estimate.has_interval and str(result.estimate) == "unknown"
    assert result.sampled == "" == result.as_dict()["interval_over"]


def test_different_rounds_of_one_opening_are_its_sample():
    result = play(CONNECT_FOUR, "uct:50", "random", 20, plies=0)
    assert len(result.scores_by_opening) == 1 and len(result.samples) == 10
    assert result.sampled == "10 different rounds of one opening"
    assert 0.7 < result.estimate.score_low < result.estimate.score < 1.0


def test_an_agent_against_itself_is_even_whatever_the_first_move_is_worth():
    result = play(CONNECT_FOUR, Lowest(CONNECT_FOUR), Lowest(CONNECT_FOUR), 100)
    assert result.estimate.score == 0.5
    assert result.tally_by_seat[0].wins == result.tally_by_seat[1].losses


def test_positions_of_one_agent_are_chosen_in_one_call():
    mine = Lowest(CONNECT_FOUR)
    play(CONNECT_FOUR, mine, "random", 40, plies=4)
    assert len(mine.calls[0]) == 20 and len(mine.calls) < 45
    assert all(not state.is_over for states in mine.calls for state in states)


def test_the_result_is_from_the_first_agents_point_of_view():
    strong, weak = play(CONNECT_FOUR, "uct:200", "random"), play(CONNECT_FOUR, "random", "uct:200")
    assert strong.tally.wins >= 18 and weak.tally.losses >= 18
    assert strong.estimate.low > 100 > -100 > weak.estimate.high


def test_more_simulations_win_more_games():
    assert play(CONNECT_FOUR, "uct:300", "uct:30", 60).estimate.low > 50


def test_three_players_are_compared_by_their_means():
    assert play(TRIO, "uct:100", "random", 30).estimate.score > 0.7


def test_one_player_plays_a_duel_with_equal_luck():
    duel = play(TINY_2048, Lowest(TINY_2048), Lowest(TINY_2048), 10)
    assert duel.tally.draws == 5
    assert play(TINY_2048, "uct:50", "random", 20).tally.wins >= 8


def test_a_match_can_be_played_again_by_its_seed():
    first, again, other = (play(CONNECT_FOUR, "uct:20", "random", 10, seed=s) for s in (5, 5, 6))
    assert first.records == again.records != other.records


def test_an_interrupted_match_counts_whole_openings_only():
    agents = (parse_agent("uct:50", CONNECT_FOUR), parse_agent("random", CONNECT_FOUR))
    seen = []
    result = play_match(
        CONNECT_FOUR,
        agents,
        MatchSettings(60),
        progress=lambda done, total: seen.append((done, total)),
        stop=lambda: seen[-1][0] >= 25,
    )
    assert result.was_interrupted and 0 < len(result.records) < 60
    assert collections.Counter(r.seats[0] for r in result.records) == {
        seat: len(result.rounds) for seat in (0, 1)
    }
    assert seen[-1][1] == 60 and seen == sorted(seen)


@pytest.mark.parametrize("game", [TIC_TAC_TOE, TINY_2048])
def test_saved_games_replay_to_their_results(tmp_path, game):
    result = play(game, "uct:10", "random", 8)
    save_games([result], tmp_path / "games.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert len(rows) == 8
    for row in rows:
        state = game.new_state()
        for action in row["actions"]:
            game.apply(state, action)
        assert state.is_over and row["returns"] == state.returns.tolist()
        for name, action in zip(row["moves"], row["actions"], strict=True):
            assert name.startswith("(") or name == game.action_name(action)
        assert 0 < row["opening_plies"] < len(row["moves"])
        assert set(row["seats"]) <= {"uct:10", "random"}


def test_saved_games_of_earlier_versions_are_read():
    """They had the opening's moves in a column of their own; `actions` are the whole game."""
    row = {"game": "tic-tac-toe", "seats": ["a", "b"], "opening": ["b2"], "moves": ["a1", "c3"]}
    line = json.dumps(row | {"actions": [4, 0, 8], "returns": [-1, 1], "ending": "resigned"})
    (saved,) = read_match_games(line)
    assert saved.moves == [4, 0, 8] and saved.resigned == 0


def test_saved_games_can_be_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    result = play(TIC_TAC_TOE, "random", "uct:10", 4)
    save_games([result], tmp_path / "games.parquet")
    rows = parquet.read_table(tmp_path / "games.parquet").to_pylist()
    assert [tuple(row["returns"]) for row in rows] == [r.returns for r in result.records]


def test_a_match_without_games_is_refused():
    with pytest.raises(ValueError, match="1 or more"):
        MatchSettings(0)
