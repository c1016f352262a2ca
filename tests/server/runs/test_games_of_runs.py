"""The self-play games of runs: as they were recorded, with names."""

import numpy as np
import pytest
from small_runs import GENERATIONS, copy_finished, make_runs

from plainzero.games.registry import make_game
from plainzero.selfplay.records import GameRecord, join
from plainzero.selfplay.shards import list_shards, read_shard, write_shard
from plainzero.training.run_folder import RunFolder
from plainzero.training.settings import default_config, resolve_run

TIC_TAC_TOE = make_game("tic-tac-toe")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def run(home, tmp_path_factory):
    return copy_finished(tmp_path_factory, home / "first")


@pytest.fixture
def runs(run, home):
    return make_runs(home=home)


def records_of(run, generation):
    return read_shard(TIC_TAC_TOE, list_shards(run / "games")[generation - 1])


def test_the_newest_generation_is_listed_by_default(run, runs):
    found, records = runs.games("first", None, 0, 50), records_of(run, GENERATIONS)
    assert found.generations == [1, 2, 3] and found.generation == 3
    assert found.total == len(records) and len(found.games) == min(50, len(records))
    assert [game.length for game in found.games] == [len(r.moves) for r in records[:50]]


def test_pages_of_a_list_follow_each_other(runs):
    whole = runs.games("first", 1, 0, 10).games
    pages = [*runs.games("first", 1, 0, 4).games, *runs.games("first", 1, 4, 6).games]
    assert pages == whole and [game.index for game in pages] == list(range(10))
    assert runs.games("first", 1, 100_000, 5).games == []


@pytest.mark.parametrize("generation", range(1, GENERATIONS + 1))
def test_every_game_is_the_one_that_was_recorded(run, runs, generation):
    for index, record in enumerate(records_of(run, generation)):
        shown = runs.game("first", generation, index)
        moves, summary = shown.moves, shown.summary
        assert [move.move.action for move in moves] == record.moves.tolist()
        assert [move.is_target for move in moves] == record.is_target.tolist()
        assert [move.is_opening for move in moves].count(True) == record.opening
        assert summary.returns == record.returns.tolist() and summary.ending == record.ending
        assert (summary.index, summary.simulations) == (index, record.simulations)
        for move, policy, values in zip(moves, record.policies, record.values, strict=True):
            shares = {share.action: share.share for share in move.policy}
            assert shares == {a: p for a, p in enumerate(policy.tolist()) if p > 0}
            assert bool(shares) == move.is_target
            assert move.values == ([] if move.is_opening else values.tolist())


def test_moves_have_the_names_and_players_of_the_rules(run, runs):
    shown, state = runs.game("first", 1, 0), TIC_TAC_TOE.new_state()
    assert shown.game == "tic-tac-toe"
    for recorded in shown.moves:
        assert recorded.move.player == state.to_play
        assert recorded.move.name == TIC_TAC_TOE.action_name(recorded.move.action)
        TIC_TAC_TOE.apply(state, recorded.move.action)


def test_moves_of_chance_have_the_names_of_outcomes(home):
    game, folder = make_game("2048"), RunFolder(home / "tiles")
    folder.make()
    folder.write_config(resolve_run(default_config(game), game), game, "2048")
    state, generator, actions = game.new_state(), np.random.default_rng(1), []
    players, names = [], []
    while len(actions) < 12:
        action = int(generator.choice(game.legal(state)))
        is_outcome = state.to_play < 0
        players.append(int(state.to_play))
        names.append(game.outcome_name(action) if is_outcome else game.action_name(action))
        actions.append(action)
        game.apply(state, action)
    record = GameRecord(
        moves=np.array(actions, np.int32),
        policies=np.zeros((12, game.num_actions), np.float32),
        values=np.ones((12, 1), np.float32),
        is_target=np.zeros(12, np.bool_),
        returns=np.zeros(1, np.float32),
        opening=2,
        ending="rules",
        would_resign=-1,
        first_step=0,
        last_step=0,
        simulations=0,
        search=np.zeros(12, np.int8),
        surprise=np.zeros(12, np.float32),
    )
    write_shard(folder.games, game, 1, join([record]))
    moves = make_runs(home=home).game("tiles", 1, 0).moves
    assert {-1, 0} == set(players)
    assert [(move.move.player, move.move.name) for move in moves] == list(
        zip(players, names, strict=True)
    )
    for number, move in enumerate(moves):
        assert move.values == ([1.0] if number >= 2 and move.move.player == 0 else [])


def test_games_that_are_not_there_are_refused(runs):
    total = runs.games("first", 1, 0, 1).total
    with pytest.raises(ValueError, match="no games of generation 9; it has 1 to 3"):
        runs.games("first", 9, 0, 10)
    for index in (-1, total):
        with pytest.raises(ValueError, match=f"it has games 0 to {total - 1}"):
            runs.game("first", 1, index)


def test_a_run_without_games_has_an_empty_list(run, runs):
    for shard in list_shards(run / "games"):
        shard.path.unlink()
    found = runs.games("first", None, 0, 10)
    assert (found.generations, found.total, found.games) == ([], 0, [])


def test_a_damaged_shard_is_told_and_left_where_it_is(run, runs):
    shard = list_shards(run / "games")[1]
    before = runs.games("first", 2, 0, 10)
    contents = shard.path.read_bytes()
    shard.path.write_bytes(contents[:-1] + bytes([contents[-1] ^ 1]))
    with pytest.raises(ValueError, match="generation 2 of first are damaged: its contents are not"):
        runs.games("first", 2, 0, 10)
    assert shard.path.exists() and runs.games("first", 1, 0, 10).total > 0
    shard.path.write_bytes(contents)
    assert runs.games("first", 2, 0, 10) == before


def test_a_game_that_the_rules_do_not_allow_is_told(run, runs):
    record = records_of(run, 1)[0]
    moves = record.moves.copy()
    moves[-1] = moves[0]
    write_shard(run / "games", TIC_TAC_TOE, 7, join([record._replace(moves=moves)]))
    with pytest.raises(ValueError, match=r"cannot be replayed: .* have the rules changed"):
        runs.game("first", 7, 0)
