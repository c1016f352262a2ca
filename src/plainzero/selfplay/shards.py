"""Game records on disk: a journal of what just finished, and Parquet shards of whole generations.

A shard is `000012.3f9a1c2e.parquet`: the generation, and the first digits of its SHA-256. A file
whose contents do not give these digits is damaged; it is moved to `damaged/` and never used.
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
from plainzero.selfplay.records import GameRecord, from_table, to_table

_log = logging.getLogger("plainzero")
_DIGITS = 16
_HEADER = struct.Struct("<QI")  # length and CRC-32 of what follows
_STREAM_START = b"\xff\xff\xff\xff"  # of every stream of Arrow's
_ROW_GROUP = 1024


class DamagedShard(ValueError):
    """A shard that cannot be read, and why."""


class Shard(NamedTuple):
    """A file of games, all finished in one generation."""

    path: Path
    generation: int


def write_shard(folder: Path, game: Game, generation: int, records: Sequence[GameRecord]) -> Shard:
    """Writes the games of a generation; the file appears whole or not at all."""
    return write_table(folder, generation, to_table(game, records))


def write_table(folder: Path, generation: int, table: Any) -> Shard:
    """Writes the games of a generation, given as `to_table` makes them."""
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(
        table,
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
    """The shards by generation; two of one generation (a replaced one) give the newest alone."""
    shards: dict[int, Shard] = {}
    for path in sorted(folder.glob("[0-9]*.parquet"), key=lambda path: path.stat().st_mtime):
        number = path.name.split(".")[0]
        if number.isdigit():
            shards[int(number)] = Shard(path, int(number))
    return [shards[generation] for generation in sorted(shards)]


def read_shard(game: Game, shard: Shard) -> list[GameRecord]:
    """The games of a shard; none where it is damaged, which is then said and set aside."""
    try:
        return load_shard(game, shard)
    except DamagedShard as error:
        _set_aside(shard.path, str(error))
        return []


def read_latest(
    game: Game, folder: Path, last: int, targets: int
) -> list[tuple[int, list[GameRecord]]]:
    """The games of the latest generations up to `last` that have so many targets, by generation."""
    found: list[tuple[int, list[GameRecord]]] = []
    for shard in reversed(list_shards(folder)):
        if shard.generation <= last and targets > 0:
            records = read_shard(game, shard)
            targets -= sum(int(record.is_target.sum()) for record in records)
            found.append((shard.generation, records))
    return found[::-1]


def load_shard(game: Game, shard: Shard) -> list[GameRecord]:
    """The games of a shard, which is left where it is.

    Raises:
        DamagedShard: when they cannot be read.
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
    """Finished games, written down at once; a killed process loses none.

    Each entry carries its length and checksum, so an entry cut short is known as such.
    """

    def __init__(self, path: Path, game: Game) -> None:
        """Takes note of the file; `append` opens it, and makes it where there is none."""
        self.path, self._game = path, game
        self._lock = threading.Lock()

    def append(self, records: Sequence[GameRecord]) -> None:
        """Writes the records; from several threads one after the other."""
        sink = pa.BufferOutputStream()
        table = to_table(self._game, records)
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        payload: Any = sink.getvalue().to_pybytes()
        entry = _HEADER.pack(len(payload), zlib.crc32(payload)) + payload
        with self._lock, open(self.path, "ab", buffering=0) as file:
            size = file.tell()
            try:
                _write_all(file, entry)
            except OSError:
                file.truncate(size)  # entries of other threads may still follow
                raise

    def read(self) -> list[GameRecord]:
        """The records in the order in which they were written; ends at a damaged entry.

        What follows is cut off, so that entries can be added: without a word where it is the
        beginning of an entry, as a killed process leaves it, else copied to `damaged/` before.
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
        """Copies what follows `place`; its checksum in the name keeps an earlier copy."""
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
        """Forgets all entries."""
        self.path.unlink(missing_ok=True)


def _is_whole(payload: bytes, length: int, checksum: int) -> bool:
    """Whether an entry is as it was written; none is empty, but zeros would look like one."""
    return 0 < length == len(payload) and zlib.crc32(payload) == checksum


def _is_torn(tail: bytes) -> bool:
    """Whether a tail without a whole entry at its start is the beginning of one, and no more.

    A damaged length may also reach beyond the end; then whole entries follow.
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
    """A full disk may take a part of what is written, without an error, and refuse the rest."""
    written = 0
    while written < len(contents):
        written += file.write(contents[written:])
