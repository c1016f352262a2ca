"""How self-play games are played, beyond the search itself."""

import dataclasses
from dataclasses import dataclass

from plainzero.games.contract import Game, has_chance
from plainzero.options import check_types
from plainzero.search.config import SearchConfig

_MOST_OPENING_PLIES = 32  # the best of two for Connect Four: docs/lab-notebook.md


@dataclass(frozen=True)
class SelfPlayConfig:
    """The options of self-play. A zero turns off what it measures, where not said otherwise."""

    games: int = 256
    """Games side by side in each thread."""
    temperature: float = 1.0
    """τ of the moves played: drawn by visits^(1/τ). 0: the best move (Gumbel draws by itself)."""
    temperature_turns: int = 0
    """τ counts for so many turns of a game, then the best move is played. 0: all of them."""
    reuse_tree: bool = False
    """Keep what is below the move played for the next search of that game; with a budget of
    search.visits what is kept counts."""
    full_share: float = 1.0
    """Playout-cap randomisation: the share of moves searched in full and with noise (KataGo:
    0.25). Only those are targets."""
    cheap_simulations: int = 8
    """Simulations of the other moves."""
    opening_share: float = 0.9
    """Share of games that begin with random moves, which are never targets."""
    opening_plies: int = -1
    """Most random moves at a game's beginning, drawn evenly from 0. −1: three quarters of the
    longest game, 32 at most; none for one player."""
    end_proven: bool = True
    """End a game once the search has proven its result."""
    resign_below: float = 0.0
    """Resign when one's own value was below −this for `resign_turns` own turns. 0: never."""
    resign_turns: int = 2
    """See resign_below."""
    resign_checked: float = 0.1
    """Share of games that are played on, to count how often resigning would have been wrong."""

    def __post_init__(self) -> None:
        """Refuses values that make no sense."""
        check_types(self)
        for name in ("games", "resign_turns", "cheap_simulations"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        for name in ("full_share", "opening_share", "resign_checked", "resign_below"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be from 0 to 1")
        if self.full_share == 0:
            raise ValueError("full_share is 0, so no move would ever be a target")
        if self.temperature < 0 or self.temperature_turns < 0:
            raise ValueError("temperature and temperature_turns cannot be negative")
        if self.opening_plies < -1:
            raise ValueError(f"opening_plies is {self.opening_plies}; it must be 0 or more, or -1")


def resolve_selfplay(config: SelfPlayConfig, game: Game) -> SelfPlayConfig:
    """The config with every `auto` decided for the game.

    Raises:
        ValueError: for an option that the game cannot have.
    """
    if config.resign_below and not (game.num_players == 2 and not has_chance(game)):
        raise ValueError("resign_below works for two players without chance")
    plies = config.opening_plies
    if plies < 0:
        plies = 0 if game.num_players == 1 else min(_MOST_OPENING_PLIES, game.max_turns * 3 // 4)
    return dataclasses.replace(config, opening_plies=plies)


def check_selfplay_search(search: SearchConfig) -> None:
    """Refuses search options that self-play cannot follow.

    Raises:
        ValueError: says which, and what to set.
    """
    if search.seconds or search.nodes or not (search.simulations or search.visits):
        raise ValueError(
            "self-play searches are measured in simulations or visits; leave seconds and nodes at 0"
        )
    if search.choice != "visits":
        raise ValueError("self-play draws its moves by selfplay.temperature; leave choice alone")
    if search.leaves != 1:
        raise ValueError("self-play batches leaves of many games; leave leaves at 1")
    if search.trace:
        raise ValueError("self-play keeps no trace; leave trace at false")
