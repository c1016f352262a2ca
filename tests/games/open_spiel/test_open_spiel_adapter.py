"""OpenSpiel's games through the adapter: the same searches, honest errors, clear refusals."""

import pickle
import subprocess
import sys

import numba
import numpy as np
import pytest

from plainzero import SearchConfig, UnknownGame, check_game, make_game, search
from plainzero.games.contract import CHANCE, IllegalMove
from plainzero.games.open_spiel import states as open_spiel_states
from plainzero.games.open_spiel.states import Driver

pytestmark = pytest.mark.slow

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

SIMULATIONS = 20 if numba.config.DISABLE_JIT else 400


@pytest.fixture(scope="module")
def small():
    return make_game("open_spiel:tic_tac_toe")


def play_random(game, seed):
    """A random game as OpenSpiel and we play it, position by position."""
    rng = np.random.default_rng(seed)
    state, expected = game.new_state(), game.spiel.new_initial_state()
    while not expected.is_terminal() and state.turn < game.max_turns:
        yield state, expected
        action = int(rng.choice(expected.legal_actions()))
        game.apply(state, action)
        expected.apply_action(action)
    yield state, expected


@pytest.mark.parametrize("evaluator", ["rollout", "uniform"])
def test_a_search_is_the_same_as_on_our_own_rules(small, evaluator):
    results = []
    for game in (make_game("tic-tac-toe"), small):
        states = [game.new_state() for _ in range(3)]
        game.apply(states[1], 4)
        config = SearchConfig(simulations=SIMULATIONS)
        results.append(search(game, states, evaluator, config, seed=3, threads=2))
    for ours, theirs in zip(*results, strict=True):
        assert ours.visits.tolist() == theirs.visits.tolist()
        assert ours.value == theirs.value


def test_the_check_finds_nothing(small):
    assert check_game(small, games=3) == []


@pytest.mark.parametrize(
    "name",
    [
        "dots_and_boxes",
        "chess(turn_limit=120)",
        "quoridor(board_size=5)",
        "go(board_size=4)",
        "backgammon",
        "maedn(players=3)",
        "misere(game=connect_four(rows=4,columns=5))",
        "misere(game=pig(winscore=10))",
        "2048(turn_limit=60)",
    ],
)
def test_uncompiled_games_are_those_of_openspiel(name):
    game = make_game(f"open_spiel:{name}")
    for state, expected in play_random(game, seed=1):
        if state.is_over:
            break
        assert state.to_play == expected.current_player()
        assert game.legal(state) == expected.legal_actions()
        if state.to_play == CHANCE:
            assert game.chances(state) == expected.chance_outcomes()
        else:
            planes = game.observation(state).reshape(-1)
            tensor = np.array(expected.observation_tensor(), np.float32)
            assert np.array_equal(planes[: len(tensor)], tensor)
    assert state.is_over
    assert abs(state.returns).max() <= 1.0


def test_the_mover_has_a_plane_of_ones(small):
    state = small.new_state()
    assert small.observation(state)[3:].reshape(2, 9).tolist() == [[1.0] * 9, [0.0] * 9]
    small.apply(state, 0)
    assert small.observation(state)[3:, 0, 0].tolist() == [0.0, 1.0]


def test_results_are_scaled_to_one_at_most():
    many = make_game("open_spiel:maedn")  # its returns go beyond 1
    *_, (state, expected) = play_random(many, seed=4)
    assert expected.is_terminal()
    most = many.spiel.max_utility()
    assert state.returns.tolist() == pytest.approx([value / most for value in expected.returns()])
    alone = make_game("open_spiel:cliff_walking")
    *_, (state, expected) = play_random(alone, seed=4)
    least, most = alone.spiel.min_utility(), alone.spiel.max_utility()
    assert state.returns[0] == pytest.approx(
        2 * (expected.returns()[0] - least) / (most - least) - 1
    )


def test_a_game_beyond_its_limit_is_a_draw():
    game = make_game("open_spiel:connect_four(turn_limit=3)")
    state = game.new_state()
    for action in (0, 1, 0):
        assert not state.is_over
        game.apply(state, action)
    assert state.is_over
    assert state.returns.tolist() == [0.0, 0.0]


def test_forgotten_states_are_made_again(monkeypatch):
    monkeypatch.setattr(open_spiel_states, "_MOST_STATES", 2)
    spiel = pyspiel.load_game("connect_four")
    driver = Driver(spiel, 2, 42, None)
    histories = [np.array(moves, np.int16).tobytes() for moves in ([3], [3, 3], [3, 3, 2], [0])]
    for history in (*histories, *reversed(histories)):
        state = driver.at(history).state
        assert state.history() == np.frombuffer(history, np.int16).tolist()


def test_an_impossible_history_is_an_error_and_no_crash():
    game = make_game("open_spiel:hex(board_size=3,turn_limit=9)")  # asked by no other test
    state = game.new_state()
    state.turn, state.history[:3] = 3, (1, 4, 4)
    with pytest.raises(ValueError, match="cannot continue with action 4 here"):
        game.legal(state)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_inside_a_search_comes_out_as_it_was_raised(small, threads, monkeypatch):
    def fail(self, history):
        raise LookupError("no such position")

    states = [small.new_state(), small.new_state()]
    monkeypatch.setattr(Driver, "at", fail)
    with pytest.raises(LookupError, match="no such position"):
        search(small, states, "uniform", SearchConfig(simulations=20), threads=threads)


def test_ctrl_c_inside_a_search_is_ctrl_c(small, monkeypatch):
    def interrupt(self, history):
        raise KeyboardInterrupt

    state = small.new_state()
    monkeypatch.setattr(Driver, "at", interrupt)
    with pytest.raises(KeyboardInterrupt):
        search(small, state, "uniform", SearchConfig(simulations=20))


def test_a_name_makes_the_same_game_again():
    for name in (
        "open_spiel:go(board_size=5,komi=3.5)",
        "open_spiel:misere(game=go(board_size=5,komi=3.5))",
        "open_spiel:chess(turn_limit=100,chess960=True)",
    ):
        game = make_game(name)
        assert game.name == name
        assert make_game(game.name) == game
        assert pickle.loads(pickle.dumps(game)) == game
    assert make_game("open_spiel:go(board_size=5, komi=7)").spiel.get_parameters()["komi"] == 7.0


def test_moves_have_names_only_where_openspiel_has_them_without_a_position(small):
    assert small.action_name(4) == "4"
    assert small.parse_action("4") == 4
    assert "4=x(1,1)" in small.text(small.new_state())
    mill = make_game("open_spiel:nine_mens_morris")
    assert mill.parse_action("Point 3") == mill.parse_action("3") == 3
    assert mill.action_name(3) == "Point 3"
    with pytest.raises(IllegalMove, match="numbers from 0 to 8"):
        small.parse_action("b2")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kuhn_poker", "imperfect information"),
        ("goofspiel", "at the same time"),
        ("stones_and_gems", "draws its chance itself"),
        ("misere(game=kuhn_poker())", "imperfect information"),
        ("misere", "Missing parameter game"),
        ("chess_with_dice", "OpenSpiel has no game 'chess_with_dice'; .* breakthrough"),
        ("go(bord=5)", "has no parameter 'bord'; its parameters: turn_limit=512, board_size=19"),
        ("go(board_size=small)", "board_size must be int"),
        ("go(turn_limit=0)", "turn_limit is 0; it must be 1 to 32,000"),
    ],
)
def test_what_cannot_be_played_is_refused_with_its_reason(name, reason):
    with pytest.raises(UnknownGame, match=reason):
        make_game(f"open_spiel:{name}")


def test_a_general_sum_game_of_two_is_refused():
    for kind in pyspiel.registered_games():
        if kind.short_name == "general_sum_example":
            break
    else:
        _register_general_sum()
    with pytest.raises(UnknownGame, match="general-sum"):
        make_game("open_spiel:general_sum_example")


def _register_general_sum():
    kinds = pyspiel.GameType
    kind = kinds(
        short_name="general_sum_example",
        long_name="Both may win",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.PERFECT_INFORMATION,
        utility=kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=False,
        provides_observation_tensor=False,
        parameter_specification={},
    )
    info = pyspiel.GameInfo(2, 0, 2, 0.0, 1.0, None, 2)

    class Example(pyspiel.Game):
        def __init__(self, params=None):
            super().__init__(kind, info, params or {})

    pyspiel.register_game(kind, Example)


def test_networks_and_gpus_are_refused_where_they_cannot_be(small):
    unseen = make_game("open_spiel:morpion_solitaire")
    with pytest.raises(ValueError, match=r"no observation of morpion_solitaire.* for a network"):
        unseen.observation(unseen.new_state())
    with pytest.raises(ValueError, match="do not run on a GPU"):
        search(small, small.new_state(), device="cuda")


def test_without_openspiel_the_sentence_says_what_to_install():
    program = (
        "import sys; sys.modules['pyspiel'] = None\n"
        "from plainzero import make_game\n"
        "try: make_game('open_spiel:chess')\n"
        "except ValueError as error: print(error)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'plainzero[bridges]'" in told.stdout
