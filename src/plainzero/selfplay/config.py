"""The options of self-play, beyond those of its searches."""

import dataclasses
from dataclasses import dataclass

from plainzero.games.contract import Game, has_chance
from plainzero.options import check_is_used, check_types
from plainzero.search.config import SearchConfig
from plainzero.selfplay.game_traits import traits_of

_MOST_OPENING_PLIES = 32
_OPENING_SHARE = 0.75  # of a random game


@dataclass(frozen=True)
class SelfPlayConfig:
    """The options of self-play. 0 turns an option off, unless it says otherwise."""

    games: int = 256
    """Games played side by side in each thread."""
    temperature: float = 1.0
    """τ of the moves played: drawn by visits^(1/τ). 0: the best move (Gumbel has its own noise)."""
    temperature_turns: int = 0
    """Turns of a game played with temperature; later ones play the best move. 0: all turns."""
    reuse_tree: bool = False
    """Reuse the subtree of the move played in the game's next search; its visits count towards
    search.visits."""
    full_share: float = 1.0
    """Playout-cap randomisation: the share of moves searched in full and with noise, the only ones
    that are targets (KataGo: 0.25)."""
    cheap_simulations: int = 8
    """Simulations of the other moves."""
    first_simulations: int = 0
    """Simulations of full searches at step 0, growing evenly to search.simulations (MiniZero). 0:
    always search.simulations."""
    growing_steps: int = 2000
    """Step from which full searches have search.simulations."""
    opening_share: float = 0.9
    """Share of games that start with random moves, which are never targets."""
    opening_plies: int = -1
    """Maximum number of random moves at the start of a game, drawn uniformly from 0. −1: three
    quarters of a long random game, at most 32; none for one player."""
    staggered: bool = True
    """Start the first games anywhere in a random game. Otherwise those that end first, from which
    the first generation learns, would be the shortest ones."""
    end_proven: bool = True
    """End a game once the search has proven its result."""
    resign_below: float = 0.0
    """Resign once the player's value was below −this on `resign_turns` of its turns. 0: never."""
    resign_turns: int = 2
    """See resign_below."""
    resign_checked: float = 0.1
    """Share of games played on after a resignation, to count how often it would be wrong."""

    def __post_init__(self) -> None:
        """Refuses invalid values."""
        check_types(self)
        for name in ("games", "resign_turns", "cheap_simulations", "growing_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        for name in ("full_share", "opening_share", "resign_checked", "resign_below"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be from 0 to 1")
        check_is_used(self, "cheap_simulations", "full_share < 1", self.full_share < 1)
        check_is_used(self, "growing_steps", "first_simulations > 0", self.first_simulations > 0)
        check_is_used(self, "temperature_turns", "temperature > 0", self.temperature > 0)
        for name in ("resign_turns", "resign_checked"):
            check_is_used(self, name, "resign_below > 0", self.resign_below > 0)
        if self.full_share == 0:
            raise ValueError("full_share is 0, so no move would ever be a target")
        if self.temperature < 0 or self.temperature_turns < 0:
            raise ValueError("temperature and temperature_turns cannot be negative")
        if self.first_simulations < 0:
            raise ValueError("first_simulations cannot be negative")
        if self.full_share < 1 and 0 < self.first_simulations < self.cheap_simulations:
            raise ValueError(
                f"first_simulations is {self.first_simulations}; a full search needs at least "
                f"cheap_simulations, which is {self.cheap_simulations}"
            )
        if self.opening_plies < -1:
            raise ValueError(f"opening_plies is {self.opening_plies}; it must be 0 or more, or -1")


def resolve_selfplay(config: SelfPlayConfig, game: Game) -> SelfPlayConfig:
    """The config with automatic values chosen for the game.

    Raises:
        ValueError: for an option that does not suit the game.
    """
    if config.resign_below and not (game.num_players == 2 and not has_chance(game)):
        raise ValueError("resign_below works for two players without chance")
    plies = config.opening_plies
    if plies < 0:
        longest = int(_OPENING_SHARE * traits_of(game).longest)
        plies = 0 if game.num_players == 1 else min(_MOST_OPENING_PLIES, longest)
    return dataclasses.replace(config, opening_plies=plies)


def check_selfplay_search(search: SearchConfig, config: SelfPlayConfig) -> None:
    """Refuses search options that self-play, or its settings, do not support.

    Raises:
        ValueError: names the option, and what to set.
    """
    if search.seconds or search.nodes or not (search.simulations or search.visits):
        raise ValueError(
            "self-play searches are measured in simulations or visits; leave seconds and nodes at 0"
        )
    if config.first_simulations and not search.simulations > config.first_simulations:
        raise ValueError(
            f"first_simulations is {config.first_simulations}; it must be below "
            f"search.simulations, which is {search.simulations}"
        )
    if search.choice != "visits":
        raise ValueError("self-play draws its moves by selfplay.temperature; leave choice alone")
    if search.leaves != 1:
        raise ValueError("self-play batches leaves of many games; leave leaves at 1")
    if search.trace:
        raise ValueError("self-play keeps no trace; leave trace at false")
