"""A game as a PettingZoo environment: agents act in turns (AEC), chance moves by itself."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import OrderEnforcingWrapper

from plainzero.games.contract import CHANCE, Game

RENDER_MODES = ("human", "ansi")


class PlainZeroEnvironment(AECEnv):
    """A game in progress. An observation has `observation` and `action_mask`."""

    def __init__(self, game: Game, render_mode: str | None) -> None:
        """Creates the environment; call `reset` before use."""
        super().__init__()
        self.game, self.render_mode = game, render_mode
        self.metadata = {
            "name": game.name,
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.possible_agents = [f"player_{player}" for player in range(game.num_players)]
        self.action_spaces = {
            agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents
        }
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(
                        -np.inf, np.inf, tuple(game.observation_shape), np.float32
                    ),
                    "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._chance = np.random.default_rng()

    def action_space(self, agent: str) -> Any:
        """All actions; `action_mask` marks the legal ones."""
        return self.action_spaces[agent]

    def observation_space(self, agent: str) -> Any:
        """The space of `observe`."""
        return self.observation_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a new game; the seed is for chance."""
        if seed is not None:
            self._chance = np.random.default_rng(seed)
        self.state_of_game = self.game.new_state()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._advance()

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """The position as if the agent were to move, and its legal actions if it is."""
        player = self.possible_agents.index(agent)
        seen = self.game.copy(self.state_of_game)
        seen.to_play = player
        mask = np.zeros(self.game.num_actions, np.int8)
        if not self.state_of_game.is_over and self.state_of_game.to_play == player:
            mask[self.game.legal(self.state_of_game)] = 1
        return {"observation": self.game.observation(seen), "action_mask": mask}

    def step(self, action: Any) -> None:
        """Plays the current agent's action, then chance's outcomes.

        Raises:
            IllegalMove: when `action_mask` is 0 for the action; nothing changes.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.game.apply(self.state_of_game, action)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._advance()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _advance(self) -> None:
        """Plays chance's outcomes until an agent is to move or the game is over."""
        state = self.state_of_game
        while not state.is_over and state.to_play == CHANCE:
            outcomes, probabilities = zip(*self.game.chances(state), strict=True)
            weights = np.array(probabilities)
            self.game.apply(state, int(self._chance.choice(outcomes, p=weights / weights.sum())))
        if state.is_over:
            self.rewards = dict(zip(self.agents, state.returns.tolist(), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            self._skip_to_next()
        else:
            self.agent_selection = self.possible_agents[state.to_play]

    def _skip_to_next(self) -> None:
        """Selects the next agent; each has a last turn to see that the game is over."""
        place = self.agents.index(self.agent_selection)
        self.agent_selection = self.agents[(place + 1) % len(self.agents)]

    def render(self) -> str | None:
        """Prints or returns the position as text."""
        text = self.game.text(self.state_of_game)
        if self.render_mode == "human":
            print(text)
            return None
        return text if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Does nothing: there is nothing to close."""

    def __str__(self) -> str:
        """The game's name."""
        return self.game.name


def make_environment(game: Game, render_mode: str | None) -> Any:
    """The environment; see `plainzero.bridges.to_pettingzoo`."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(
            f"render_mode is {render_mode!r}; it must be {', '.join(RENDER_MODES)} or None"
        )
    return OrderEnforcingWrapper(PlainZeroEnvironment(game, render_mode))
