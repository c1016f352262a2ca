"""A PlainZero game in OpenSpiel, for its algorithms; the rules run as plain Python."""

import re
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.observation import IIGObserverForPublicInfoGame

from plainzero.games.contract import CHANCE, Game, has_chance
from plainzero.games.formats.replay_moves import move_name

_REGISTERED: dict[Game, str] = {}  # OpenSpiel's name of each


def register_game(game: Game) -> str:
    """Registers the game; see `plainzero.bridges.register_in_open_spiel`."""
    if game not in _REGISTERED:
        short_name = _free_name("plainzero_" + re.sub(r"\W+", "_", game.name).strip("_"))
        pyspiel.register_game(_game_type(game, short_name), _game_class(game, short_name))
        _REGISTERED[game] = short_name
    return _REGISTERED[game]


def _free_name(wanted: str) -> str:
    """The name, with a number if it is taken: two files may have games of the same name."""
    taken, name, number = set(pyspiel.registered_names()), wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def _game_type(game: Game, short_name: str) -> Any:
    kinds, players = pyspiel.GameType, game.num_players
    chance_modes, utilities = kinds.ChanceMode, kinds.Utility
    return kinds(
        short_name=short_name,
        long_name=game.name,
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=(
            chance_modes.EXPLICIT_STOCHASTIC if has_chance(game) else chance_modes.DETERMINISTIC
        ),
        information=kinds.Information.PERFECT_INFORMATION,
        utility=utilities.ZERO_SUM if players > 1 else utilities.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=players,
        min_num_players=players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={},
    )


def _game_info(game: Game) -> Any:
    return pyspiel.GameInfo(
        num_distinct_actions=game.num_actions,
        max_chance_outcomes=game.max_chance_outcomes if has_chance(game) else 0,
        num_players=game.num_players,
        min_utility=-1.0,
        max_utility=1.0,
        utility_sum=0.0 if game.num_players > 1 else None,
        max_game_length=game.max_turns,
    )


def _game_class(game: Game, short_name: str) -> type[Any]:
    """A class for the game, because OpenSpiel creates a game by calling its class."""

    class PlainZeroGame(pyspiel.Game):
        """The game as OpenSpiel sees it."""

        def __init__(self, params: dict[str, Any] | None = None) -> None:
            pyspiel.Game.__init__(
                self, _game_type(game, short_name), _game_info(game), params or {}
            )
            self.plainzero_game = game

        def new_initial_state(self, state: Any = None) -> Any:
            """The initial position."""
            return PlainZeroState(self)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
            """The network's observation; with perfect recall, an observer of histories."""
            if iig_obs_type is None or (
                iig_obs_type.public_info and not iig_obs_type.perfect_recall
            ):
                return Observer(game)
            return IIGObserverForPublicInfoGame(iig_obs_type, params)

    return PlainZeroGame


class PlainZeroState(pyspiel.State):
    """A position as OpenSpiel sees it; a copy shares only the game."""

    def __init__(self, game: Any) -> None:
        """The initial position."""
        pyspiel.State.__init__(self, game)
        self.held = Held(game.plainzero_game)

    def current_player(self) -> int:
        """The player to move."""
        state = self.held.state
        if state.is_over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE if state.to_play == CHANCE else state.to_play)

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self.held.game.legal(self.held.state))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Chance's outcomes and their probabilities."""
        return self.held.game.chances(self.held.state)

    def _apply_action(self, action: int) -> None:
        self.held.game.apply(self.held.state, int(action))

    def _action_to_string(self, player: int, action: int) -> str:
        return move_name(self.held.game, CHANCE if player < 0 else player, int(action))

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return bool(self.held.state.is_over)

    def returns(self) -> list[float]:
        """Each player's result, 0 before the end."""
        returns: list[float] = self.held.state.returns.tolist()
        return returns

    def __str__(self) -> str:
        """The position as text."""
        return self.held.game.text(self.held.state)


class Held:
    """A position that is copied when OpenSpiel copies its state; the game is shared."""

    def __init__(self, game: Game, state: Any = None) -> None:
        """Holds a copy of the state, or the initial position."""
        self.game = game
        self.state = game.new_state() if state is None else game.copy(state)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Held":
        """An independent copy of the position."""
        return Held(self.game, self.state)


class Observer:
    """OpenSpiel's interface to the network's observation.

    Args:
        game: the game.
    """

    def __init__(self, game: Game) -> None:  # noqa: D107
        self.tensor = np.zeros(int(np.prod(game.observation_shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(game.observation_shape)}

    def set_from(self, state: Any, player: int) -> None:
        """Observes the position as if that player were to move."""
        held = Held(state.held.game, state.held.state)
        held.state.to_play = player
        self.dict["observation"][...] = held.game.observation(held.state)

    def string_from(self, state: Any, player: int) -> str:
        """The position as text, the same for all players."""
        return str(state)
