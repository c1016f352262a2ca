"""The games in progress: arrays with one row per game, which compiled code reads and writes."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game
from plainzero.search.config import SearchConfig
from plainzero.search.resolve_options import simulation_limit
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.targets.target import USUAL_CHOICE, Choice

IN_PROGRESS, BY_RULES, BY_PROOF, BY_RESIGNATION = range(4)
ENDINGS = ("in progress", "rules", "proof", "resignation")
NOBODY = -1


class Games(NamedTuple):
    """B games side by side. L moves of the longest game, A actions, P players."""

    states: NDArray[Any]  # [B + 1] the positions; the last is the initial position of every game
    status: NDArray[Any]  # [B] see status_dtype
    moves: NDArray[Any]  # [B, L] see move_dtype
    policies: NDArray[np.float32]  # [B, L, A] targets; rows of other moves are undefined


def status_dtype(game: Game) -> np.dtype[Any]:
    """The record that each game has once."""
    return record_dtype(
        simulations=np.int64,  # of all searches so far
        first_step=np.int64,  # of the weights that played its first move
        last_step=np.int64,  # of the weights that played its latest move
        searches=np.int32,  # moves that were searched
        length=np.int32,  # moves so far, those of chance and of the opening included
        opening=np.int32,  # of these, the moves of the random opening
        low_turns=(np.int32, game.num_players),  # consecutive own turns with a hopeless value
        would_resign=np.int32,  # the player who would have resigned, or NOBODY
        is_checked=np.bool_,  # whether the game is then played on, to see who wins
        is_full=np.bool_,  # whether this turn's search is a full one
        ending=np.int32,  # of ENDINGS
        returns=(np.float32, game.num_players),  # once the game has ended
    )


def move_dtype(game: Game) -> np.dtype[Any]:
    """The record of one move."""
    return record_dtype(
        values=(np.float32, game.num_players),  # of the root, by seat; 0 if nothing was searched
        surprise=np.float32,  # KL of the search's policy from the prior, where it is wanted
        action=np.int32,
        search=np.int8,  # UNSEARCHED, SEARCHED or PROVEN
        is_target=np.bool_,
    )


def play_options_dtype() -> np.dtype[Any]:
    """The options of self-play, as compiled code sees them."""
    return record_dtype(
        step=np.int64,  # of the weights that play now
        temperature=np.float64,
        full_share=np.float64,
        opening_share=np.float64,
        resign_below=np.float64,
        resign_checked=np.float64,
        temperature_turns=np.int32,
        full_simulations=np.int64,  # the budget of the search itself
        full_visits=np.int64,
        cheap_simulations=np.int32,
        opening_plies=np.int32,
        resign_turns=np.int32,
        staggered=np.bool_,  # new games start anywhere in a random game
        reuse_tree=np.bool_,
        end_proven=np.bool_,
        records_surprise=np.bool_,
    )


def make_games(game: Game, count: int) -> Games:
    """Arrays for `count` games; none has started."""
    longest = game.max_turns + 1
    games = Games(
        states=np.zeros(count + 1, game.dtype),
        status=np.zeros(count, status_dtype(game)),
        moves=np.zeros((count, longest), move_dtype(game)),
        policies=np.zeros((count, longest, game.num_actions), np.float32),
    )
    games.states[count] = game.new_state()
    return games


def make_play_options(
    config: SelfPlayConfig, search: SearchConfig, choice: Choice = USUAL_CHOICE
) -> NDArray[Any]:
    """[1] the record of resolved configs, for the weights of step 0."""
    options = np.zeros(1, play_options_dtype())
    options["temperature"] = config.temperature
    options["temperature_turns"] = config.temperature_turns
    options["full_share"] = config.full_share
    options["full_visits"] = search.visits
    options["cheap_simulations"] = config.cheap_simulations
    options["opening_share"] = config.opening_share
    options["opening_plies"] = config.opening_plies
    options["resign_below"] = config.resign_below
    options["resign_turns"] = config.resign_turns
    options["resign_checked"] = config.resign_checked
    options["staggered"] = config.staggered
    options["reuse_tree"] = config.reuse_tree
    options["end_proven"] = config.end_proven
    options["records_surprise"] = "surprise" in choice.names
    set_step(options, config, search, 0)
    return options


def set_step(
    options: NDArray[Any], config: SelfPlayConfig, search: SearchConfig, step: int
) -> None:
    """Sets the step of the weights, and the simulations of a full search at that step."""
    options["step"] = step
    full, first = simulation_limit(search), config.first_simulations
    grown = min(1.0, step / config.growing_steps) if first else 1.0
    options["full_simulations"] = first + round(grown * (full - first))
