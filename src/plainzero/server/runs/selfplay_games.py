"""The self-play games of a run: lists, and single games with their search results."""

from typing import TYPE_CHECKING, Any

from plainzero.games.contract import CHANCE, Game
from plainzero.server.api.schemas.runs import (
    GameList,
    GameSummary,
    PolicyShare,
    RecordedGame,
    RecordedMove,
)
from plainzero.server.lru_cache import LruCache
from plainzero.server.position_views import name_move
from plainzero.server.runs.reader import RunReader, stamp_of

if TYPE_CHECKING:
    from plainzero.selfplay.records import GameRecord
    from plainzero.selfplay.shards import Shard

MAX_LISTED = 200
_CACHED_SHARDS = 4


class RecordedGames:
    """Reads shards and caches the most recently used. Thread-safe."""

    def __init__(self) -> None:
        """An empty cache."""
        self._shards: LruCache[list[GameRecord]] = LruCache(_CACHED_SHARDS)

    def browse(self, reader: RunReader, generation: int | None, first: int, count: int) -> GameList:
        """Games of a generation starting at `first`, by default of the newest generation.

        Raises:
            ValueError: if there is no such generation, or its games are damaged.
        """
        shards = _shards_of(reader)
        if generation is None and not shards:
            return GameList(generations=[], generation=0, total=0, first=first, games=[])
        chosen = max(shards) if generation is None else generation
        records = self._read(reader, shards, chosen)
        return GameList(
            generations=sorted(shards),
            generation=chosen,
            total=len(records),
            first=first,
            games=[
                _summarise(index, record)
                for index, record in enumerate(records[first : first + count], first)
            ],
        )

    def show(self, reader: RunReader, generation: int, index: int) -> RecordedGame:
        """A game, replayed to name its moves.

        Raises:
            ValueError: if there is no such game, or its moves are no longer legal.
        """
        records = self._read(reader, _shards_of(reader), generation)
        if not 0 <= index < len(records):
            raise ValueError(
                f"{reader.name} has no game {index} in generation {generation}; it has games "
                f"0 to {len(records) - 1}"
            )
        opened = reader.open()
        try:
            moves = _replay(opened.saved.game, records[index])
        except ValueError as error:
            raise ValueError(
                f"game {index} of generation {generation} cannot be replayed: {error}; have the "
                "rules changed since?"
            ) from error
        return RecordedGame(
            summary=_summarise(index, records[index]), game=opened.game, moves=moves
        )

    def _read(
        self, reader: RunReader, shards: "dict[int, Shard]", generation: int
    ) -> "list[GameRecord]":
        from plainzero.selfplay.shards import DamagedShard, load_shard

        if generation not in shards:
            known = f"it has {min(shards)} to {max(shards)}" if shards else "it has none"
            raise ValueError(f"{reader.name} has no games of generation {generation}; {known}")
        shard, game = shards[generation], reader.open().saved.game
        key = (shard.path, stamp_of(shard.path), game.tag)
        try:
            return self._shards.get(key, lambda: load_shard(game, shard))
        except DamagedShard as error:
            raise ValueError(
                f"the games of generation {generation} of {reader.name} are damaged: "
                f"{reader.without_path(error)}; training continues without them"
            ) from error


def _shards_of(reader: RunReader) -> "dict[int, Shard]":
    """The shards by generation; listed again if one was replaced meanwhile."""
    from plainzero.selfplay.shards import list_shards

    folder = reader.open().saved.folder.games
    try:
        shards = list_shards(folder)
    except FileNotFoundError:
        shards = list_shards(folder)
    return {shard.generation: shard for shard in shards}


def _summarise(index: int, record: "GameRecord") -> GameSummary:
    return GameSummary(
        index=index,
        length=len(record.moves),
        opening=record.opening,
        returns=[float(value) for value in record.returns],
        ending=record.ending,
        first_step=record.first_step,
        last_step=record.last_step,
        simulations=record.simulations,
    )


def _replay(game: Game, record: "GameRecord") -> list[RecordedMove]:
    state, moves = game.new_state(), []
    for number, action in enumerate(record.moves.tolist()):
        is_opening = number < record.opening
        is_searched = not is_opening and state.to_play != CHANCE
        moves.append(
            RecordedMove(
                move=name_move(game, state, action),
                policy=_shares(game, record.policies[number]),
                values=record.values[number].tolist() if is_searched else [],
                is_target=bool(record.is_target[number]),
                is_opening=is_opening,
            )
        )
        game.apply(state, action)
    return moves


def _shares(game: Game, policy: Any) -> list[PolicyShare]:
    """The moves with a share; empty if the move is no training target."""
    return [
        PolicyShare(action=action, name=game.action_name(action), share=share)
        for action, share in enumerate(policy.tolist())
        if share > 0
    ]
