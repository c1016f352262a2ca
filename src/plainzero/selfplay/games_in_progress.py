"""The games in progress: arrays with a row per game, which compiled code plays on."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.compiler.record_types import record_dtype
from plainzero.games.contract import Game
from plainzero.search.config import SearchConfig
from plainzero.search.resolve_options import simulation_limit
from plainzero.selfplay.config import SelfPlayConfig

IN_PROGRESS, BY_RULES, BY_PROOF, BY_RESIGNATION = range(4)
ENDINGS = ("in progress", "rules", "proof", "resignation")
NOBODY = -1


class Games(NamedTuple):
    """B games side by side, L the longest, A actions, P players."""

    states: NDArray[Any]  # [B + 1] the positions; the last is where every game begins
    seats: NDArray[Any]  # [B] see seat_dtype
    moves: NDArray[Any]  # [B, L] see move_dtype
    policies: NDArray[np.float32]  # [B, L, A] targets; rows of other moves mean nothing


def seat_dtype(game: Game) -> np.dtype[Any]:
    """What there is once per game."""
    return record_dtype(
        simulations=np.int64,  # run for this game so far
        first_step=np.int64,  # of the weights that played its first move
        searches=np.int32,  # moves that were searched
        length=np.int32,  # moves so far, chance's and random ones included
        opening=np.int32,  # of these, how many were a random opening
        low_turns=(np.int32, game.num_players),  # own turns in a row with a hopeless value
        would_resign=np.int32,  # player who would have resigned, or NOBODY
        is_checked=np.bool_,  # whether it is played on after that, to see who wins
        is_full=np.bool_,  # whether this turn's search is a full one
        ending=np.int32,
        returns=(np.float32, game.num_players),  # once it has ended
    )


def move_dtype(game: Game) -> np.dtype[Any]:
    """One move of a game."""
    return record_dtype(
        values=(np.float32, game.num_players),  # the root's, per seat; 0 where nothing was searched
        action=np.int32,
        is_target=np.bool_,
    )


def plan_dtype() -> np.dtype[Any]:
    """The options of self-play, as compiled code sees them."""
    return record_dtype(
        step=np.int64,  # of the weights that play now
        temperature=np.float64,
        full_share=np.float64,
        opening_share=np.float64,
        resign_below=np.float64,
        resign_checked=np.float64,
        temperature_turns=np.int32,
        full_simulations=np.int64,  # the search's own budget
        full_visits=np.int64,
        cheap_simulations=np.int32,
        opening_plies=np.int32,
        resign_turns=np.int32,
        reuse_tree=np.bool_,
        end_proven=np.bool_,
    )


def make_games(game: Game, count: int) -> Games:
    """Room for that many games; none has begun."""
    longest = game.max_turns + 1
    games = Games(
        states=np.zeros(count + 1, game.dtype),
        seats=np.zeros(count, seat_dtype(game)),
        moves=np.zeros((count, longest), move_dtype(game)),
        policies=np.zeros((count, longest, game.num_actions), np.float32),
    )
    games.states[count] = game.new_state()
    return games


def make_plan(config: SelfPlayConfig, search: SearchConfig) -> NDArray[Any]:
    """[1] the record of resolved configs."""
    plan = np.zeros(1, plan_dtype())
    plan["full_simulations"], plan["full_visits"] = simulation_limit(search), search.visits
    for name in plan.dtype.names or ():
        if hasattr(config, name):
            plan[name] = getattr(config, name)
    return plan
