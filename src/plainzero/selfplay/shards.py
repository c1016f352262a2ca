"""Game records on disk: a journal of the latest games, and one Parquet shard per generation.

A shard is called `000012.3f9a1c2e.parquet`: the generation, and the first digits of its SHA-256. A
file whose contents do not match these digits is damaged; it is moved to `damaged/` and not used.
"""

import hashlib
import logging
import os
import struct
import threading
import zlib
from collections.abc import Sequence
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from plainzero.atomic_files import write_whole
from plainzero.games.contract import Game
from plainzero.selfplay.records import GameColumns, GameRecord, from_table, join, to_table

_log = logging.getLogger("plainzero")
_DIGITS = 16
_HEADER = struct.Struct("<QI")  # length and CRC-32 of what follows
_STREAM_START = b"\xff\xff\xff\xff"  # of every Arrow stream
_ROW_GROUP = 1024


class DamagedShard(ValueError):
    """A shard that cannot be read, and why."""


class Shard(NamedTuple):
    """A file of games, all finished in one generation."""

    path: Path
    generation: int


def write_shard(folder: Path, game: Game, generation: int, columns: GameColumns) -> Shard:
    """Writes the games of a generation; the file appears whole or not at all."""
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(
        to_table(game, columns),
        sink,
        compression="zstd",
        row_group_size=_ROW_GROUP,
        write_page_checksum=True,
    )
    contents = sink.getvalue()
    digest = hashlib.sha256(contents).hexdigest()[:_DIGITS]
    path = folder / f"{generation:06d}.{digest}.parquet"
    write_whole(path, contents)
    return Shard(path, generation)


def list_shards(folder: Path) -> list[Shard]:
    """The shards by generation; of several for one generation, only the newest."""
    shards: dict[int, Shard] = {}
    for path in sorted(folder.glob("[0-9]*.parquet"), key=lambda path: path.stat().st_mtime):
        number = path.name.split(".")[0]
        if number.isdigit():
            shards[int(number)] = Shard(path, int(number))
    return [shards[generation] for generation in sorted(shards)]


def read_shard(game: Game, shard: Shard) -> list[GameRecord]:
    """The games of a shard; none if it is damaged, which is logged, and the file is set aside."""
    try:
        return load_shard(game, shard)
    except DamagedShard as error:
        _set_aside(shard.path, str(error))
        return []


def read_latest(
    game: Game, folder: Path, last: int, targets: int
) -> list[tuple[int, list[GameRecord]]]:
    """The games of the latest generations up to `last`, oldest first.

    As many generations as are needed for `targets` targets.
    """
    found: list[tuple[int, list[GameRecord]]] = []
    for shard in reversed(list_shards(folder)):
        if shard.generation <= last and targets > 0:
            records = read_shard(game, shard)
            targets -= sum(int(record.is_target.sum()) for record in records)
            found.append((shard.generation, records))
    return found[::-1]


def load_shard(game: Game, shard: Shard) -> list[GameRecord]:
    """The games of a shard, which stays where it is.

    Raises:
        DamagedShard: if it cannot be read.
    """
    try:
        contents = shard.path.read_bytes()
        digest = shard.path.name.split(".")[1]
        if hashlib.sha256(contents).hexdigest()[:_DIGITS] != digest:
            raise ValueError("its contents are not those it was written with")
        return from_table(game, pa.parquet.read_table(pa.BufferReader(contents)))
    except (OSError, ValueError, IndexError, pa.ArrowException) as error:
        raise DamagedShard(str(error).splitlines()[0]) from error


def _set_aside(path: Path, reason: str) -> None:
    folder = path.parent / "damaged"
    try:
        folder.mkdir(exist_ok=True)
        os.replace(path, folder / path.name)
        _log.warning("%s is damaged (%s): moved to %s and not used", path, reason, folder)
    except OSError as error:
        _log.warning("%s cannot be read (%s; %s): not used", path, reason, error)


class Journal:
    """Finished games, written immediately, so that a killed process loses none.

    Each entry has its length and checksum, which reveal an incomplete entry.
    """

    def __init__(self, path: Path, game: Game) -> None:
        """Names the file, which `append` creates if needed."""
        self.path, self._game = path, game
        self._lock = threading.Lock()

    def append(self, records: Sequence[GameRecord]) -> None:
        """Writes the records; threads take turns."""
        sink = pa.BufferOutputStream()
        table = to_table(self._game, join(records))
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        payload: Any = sink.getvalue().to_pybytes()
        entry = _HEADER.pack(len(payload), zlib.crc32(payload)) + payload
        with self._lock, open(self.path, "ab", buffering=0) as file:
            size = file.tell()
            try:
                _write_all(file, entry)
            except OSError:
                file.truncate(size)  # other threads may still append
                raise

    def read(self) -> list[GameRecord]:
        """The records in the order in which they were written, up to a damaged entry.

        The rest is cut off, so that entries can be added. The start of an entry, as a killed
        process leaves it, is dropped silently; anything else is copied to `damaged/` first.
        """
        if not self.path.exists():
            return []
        contents, place, records = self.path.read_bytes(), 0, []
        while place + _HEADER.size <= len(contents):
            length, checksum = _HEADER.unpack_from(contents, place)
            payload = contents[place + _HEADER.size : place + _HEADER.size + length]
            if not _is_whole(payload, length, checksum):
                break
            with pa.ipc.open_stream(payload) as reader:
                records += from_table(self._game, reader.read_all())
            place += _HEADER.size + length
        if place < len(contents):
            if not _is_torn(contents[place:]):
                self._set_aside(contents[place:], place)
            with open(self.path, "r+b") as file:
                file.truncate(place)
        return records

    def _set_aside(self, tail: bytes, place: int) -> None:
        """Copies the tail from `place` on; the checksum in its name protects earlier copies."""
        folder = self.path.parent / "damaged"
        folder.mkdir(exist_ok=True)
        copy = folder / f"{self.path.name}.{place}.{zlib.crc32(tail):08x}"
        write_whole(copy, tail)
        _log.warning(
            "%s is damaged from byte %d on: its last %d bytes are moved to %s and not used",
            self.path,
            place,
            len(tail),
            copy,
        )

    def clear(self) -> None:
        """Deletes all entries."""
        self.path.unlink(missing_ok=True)


def _is_whole(payload: bytes, length: int, checksum: int) -> bool:
    """Whether an entry is complete; none is empty, though zeros would look like that."""
    return 0 < length == len(payload) and zlib.crc32(payload) == checksum


def _is_torn(tail: bytes) -> bool:
    """Whether a tail that does not start with a complete entry is just the start of one.

    A damaged length may also reach beyond the end; then complete entries follow.
    """
    if len(tail) < _HEADER.size:
        return True
    if len(tail) - _HEADER.size >= _HEADER.unpack_from(tail)[0]:
        return False
    place = tail.find(_STREAM_START, _HEADER.size + 1)
    while place >= 0:
        length, checksum = _HEADER.unpack_from(tail, place - _HEADER.size)
        if _is_whole(tail[place : place + length], length, checksum):
            return False
        place = tail.find(_STREAM_START, place + 1)
    return True


def _write_all(file: FileIO, contents: bytes) -> None:
    """Writes all of it: a full disk may accept a part without an error, and refuse the rest."""
    written = 0
    while written < len(contents):
        written += file.write(contents[written:])
