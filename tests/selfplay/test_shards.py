"""Game records on disk: what comes back is what was written, or it is named and set aside."""

import logging
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from played_games import GAMES, TIC_TAC_TOE, as_key, make_worker, play_games, search_of

from plainzero.selfplay.observations import targets_of
from plainzero.selfplay.records import COLUMNS, from_table, join, schema_of, to_table
from plainzero.selfplay.shards import (
    Journal,
    Shard,
    list_shards,
    read_latest,
    read_shard,
    write_shard,
)


def played(game, count=6):
    return play_games(make_worker(game, search_of(3)), count)


@pytest.fixture(scope="module")
def records():
    return played(TIC_TAC_TOE)


def keys(records):
    return [as_key(record) for record in records]


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_records_come_back_from_a_table(game):
    written = played(game, 3)
    table = to_table(game, join(written))
    assert keys(from_table(game, table)) == keys(written)
    assert keys(from_table(game, table.slice(1))) == keys(written[1:])
    twice = pa.concat_tables([table, table])
    assert keys(from_table(game, twice)) == keys(written) * 2


def test_the_schema_is_that_of_files_written_before_and_two_columns():
    policy, values = pa.list_(pa.float32(), 9), pa.list_(pa.float32(), 2)
    assert schema_of(TIC_TAC_TOE) == pa.schema(
        {
            "moves": pa.list_(pa.int32()),
            "policies": pa.list_(policy),
            "values": pa.list_(values),
            "is_target": pa.list_(pa.bool_()),
            "returns": values,
            "opening": pa.int32(),
            "ending": pa.string(),
            "would_resign": pa.int32(),
            "first_step": pa.int64(),
            "last_step": pa.int64(),
            "simulations": pa.int64(),
            "search": pa.list_(pa.int8()),
            "surprise": pa.list_(pa.float32()),
        }
    )
    assert list(COLUMNS) == schema_of(TIC_TAC_TOE).names


def test_no_records_make_an_empty_table():
    table = pa.Table.from_batches([], to_table(TIC_TAC_TOE, join(played(TIC_TAC_TOE, 1))).schema)
    assert from_table(TIC_TAC_TOE, table) == []


def test_a_table_of_another_game_is_refused(records):
    with pytest.raises(ValueError, match="holds no games of trio"):
        from_table(GAMES["trio"], to_table(TIC_TAC_TOE, join(records)))


def test_a_shard_comes_back(tmp_path, records):
    shard = write_shard(tmp_path, TIC_TAC_TOE, 12, join(records))
    assert shard.path.name.startswith("000012.") and list_shards(tmp_path) == [shard]
    assert keys(read_shard(TIC_TAC_TOE, shard)) == keys(records)


def test_the_latest_games_come_back_until_they_are_enough(tmp_path, records):
    parts = {generation: records[generation : generation + 1] for generation in range(1, 5)}
    for generation, games in parts.items():
        write_shard(tmp_path, TIC_TAC_TOE, generation, join(games))
    counts = {generation: len(games[0].moves) for generation, games in parts.items()}

    def latest(last, targets):
        found = read_latest(TIC_TAC_TOE, tmp_path, last, targets)
        assert all(keys(games) == keys(parts[generation]) for generation, games in found)
        return [generation for generation, _ in found]

    assert latest(4, 0) == latest(0, 10) == []
    assert latest(4, counts[4]) == [4]
    assert latest(4, counts[4] + 1) == [3, 4]
    assert latest(3, counts[3] + counts[2]) == [2, 3]
    assert latest(3, 1000) == [1, 2, 3]


def test_no_games_have_no_positions():
    positions = targets_of(TIC_TAC_TOE, [])
    assert [column.shape for column in positions.targets.values()] == [(0, 9), (0, 2), (0, 2)]
    assert positions.states.shape == (0,) and positions.states.dtype == TIC_TAC_TOE.dtype


def test_any_reader_of_parquet_sees_the_games(tmp_path, records):
    shard = write_shard(tmp_path, TIC_TAC_TOE, 1, join(records))
    rows = pyarrow.parquet.read_table(shard.path).to_pylist()
    assert [row["moves"] for row in rows] == [record.moves.tolist() for record in records]
    assert np.shape(rows[0]["policies"]) == (len(rows[0]["moves"]), 9)
    assert rows[0]["returns"] == records[0].returns.tolist() and rows[0]["ending"] == "rules"


@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb"])
def test_other_libraries_read_shards(tmp_path, records, library):
    reader = pytest.importorskip(library)
    path = str(write_shard(tmp_path, TIC_TAC_TOE, 1, join(records)).path)
    if library == "duckdb":
        moves = [row[0] for row in reader.sql(f"select moves from '{path}'").fetchall()]
    else:
        moves = reader.read_parquet(path)["moves"].to_list()
    assert [list(game) for game in moves] == [record.moves.tolist() for record in records]


def flip(contents):
    return contents[:200] + bytes([contents[200] ^ 1]) + contents[201:]


@pytest.mark.parametrize(
    "damage", [flip, lambda c: c[:-1], lambda c: c[:100], lambda c: b"", lambda c: c + b"x"]
)
def test_a_damaged_shard_is_named_and_set_aside(tmp_path, records, caplog, damage):
    shard = write_shard(tmp_path, TIC_TAC_TOE, 1, join(records))
    whole = write_shard(tmp_path, TIC_TAC_TOE, 2, join(records))
    contents = damage(shard.path.read_bytes())
    shard.path.write_bytes(contents)
    with caplog.at_level(logging.WARNING, "plainzero"):
        assert read_shard(TIC_TAC_TOE, shard) == []
    assert str(shard.path) in caplog.text and "damaged" in caplog.text
    assert list_shards(tmp_path) == [whole]
    assert (tmp_path / "damaged" / shard.path.name).read_bytes() == contents


def test_a_foreign_parquet_file_is_set_aside(tmp_path, caplog):
    import hashlib

    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(pa.table({"moves": [1, 2]}), sink)
    contents = sink.getvalue().to_pybytes()
    for name in (hashlib.sha256(contents).hexdigest()[:16], "no-digest"):
        path = tmp_path / f"000003.{name}.parquet"
        path.write_bytes(contents)
        assert read_shard(TIC_TAC_TOE, Shard(path, 3)) == []
        assert path.name in caplog.text and not path.exists()


def test_a_missing_shard_is_named(tmp_path, caplog):
    assert read_shard(TIC_TAC_TOE, Shard(tmp_path / "000001.00.parquet", 1)) == []
    assert "000001.00.parquet cannot be read" in caplog.text


def test_other_files_are_no_shards(tmp_path, records):
    write_shard(tmp_path, TIC_TAC_TOE, 1, join(records))
    for name in (
        "1x.parquet",
        "notes.txt",
        ".000002.aa.parquet.partial",
        "ongoing.000001.safetensors",
    ):
        (tmp_path / name).write_text("")
    assert [shard.generation for shard in list_shards(tmp_path)] == [1]


def test_a_shard_that_cannot_be_written_leaves_nothing(tmp_path, records, monkeypatch):
    import os

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_shard(tmp_path, TIC_TAC_TOE, 1, join(records))
    assert list(tmp_path.iterdir()) == []


# ---- the journal ---------------------------------------------------------------------------------


def test_the_journal_keeps_what_was_appended(tmp_path, records):
    journal = Journal(tmp_path / "journal", TIC_TAC_TOE)
    assert journal.read() == []
    for record in records:
        journal.append([record])
    journal.append(records)
    assert keys(journal.read()) == keys(records) * 2
    journal.clear()
    assert journal.read() == []


def test_a_torn_entry_ends_the_journal_and_is_written_over(tmp_path, records):
    journal = Journal(tmp_path / "journal", TIC_TAC_TOE)
    journal.append(records[:2])
    whole = journal.path.read_bytes()
    journal.append(records[2:])
    entry = journal.path.read_bytes()[len(whole) :]
    for torn in (entry[:5], entry[:12], entry[:-1], flip(entry)):
        journal.path.write_bytes(whole + torn)
        assert keys(journal.read()) == keys(records[:2])
        journal.append(records[2:3])
        assert keys(journal.read()) == keys(records[:3])


def journal_of(folder, records):
    """A journal of an entry for each record, and where each entry begins."""
    journal, places = Journal(folder / "journal", TIC_TAC_TOE), []
    for record in records:
        places.append(journal.path.stat().st_size if journal.path.exists() else 0)
        journal.append([record])
    return journal, places


def test_an_entry_that_a_killed_process_left_unfinished_is_nothing_to_speak_of(
    tmp_path, records, caplog
):
    journal, places = journal_of(tmp_path, records[:3])
    contents = journal.path.read_bytes()
    first, last = places[2], len(contents)
    for size in {*range(first, first + 40), *range(first, last, 17), *range(last - 20, last)}:
        journal.path.write_bytes(contents[:size])
        assert keys(journal.read()) == keys(records[:2])
        assert journal.path.stat().st_size == places[2]
    assert not caplog.records and not (tmp_path / "damaged").exists()


@pytest.mark.parametrize(
    ("entry", "place"),
    [(1, 100), (1, 2), (1, 5), (1, 9), (0, 0), (2, 50)],
    ids=["contents", "length", "huge length", "checksum", "first", "last"],
)
def test_what_follows_damage_in_a_journal_is_named_and_set_aside(
    tmp_path, records, caplog, entry, place
):
    journal, places = journal_of(tmp_path, records[:3])
    contents = bytearray(journal.path.read_bytes())
    contents[places[entry] + place] ^= 0x40
    journal.path.write_bytes(contents)
    assert keys(journal.read()) == keys(records[:entry])
    tail = bytes(contents[places[entry] :])
    (copy,) = (tmp_path / "damaged").iterdir()
    assert copy.read_bytes() == tail
    (warning,) = caplog.messages
    assert f"{journal.path} is damaged from byte {places[entry]} on" in warning
    assert f"{len(tail)} bytes" in warning and str(copy) in warning
    journal.append(records[3:4])
    assert keys(journal.read()) == keys([*records[:entry], records[3]])
    assert len(caplog.messages) == 1


def test_zeros_that_a_power_cut_left_are_no_entry(tmp_path, records, caplog):
    journal, _ = journal_of(tmp_path, records[:2])
    with open(journal.path, "ab") as file:
        file.write(bytes(500))
    assert keys(journal.read()) == keys(records[:2])
    assert "its last 500 bytes" in caplog.text


def test_an_entry_that_does_not_fit_the_disk_leaves_room_for_others(tmp_path, records, monkeypatch):
    from plainzero.selfplay import shards

    journal = Journal(tmp_path / "journal", TIC_TAC_TOE)
    journal.append(records[:1])

    def fills_the_disk(file, contents):
        file.write(contents[:30])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(shards, "_write_all", fills_the_disk)
        with pytest.raises(OSError, match="No space left"):
            journal.append(records[1:2])
    journal.append(records[2:3])
    assert keys(journal.read()) == keys([records[0], records[2]])


def test_threads_append_whole_entries(tmp_path, records):
    journal = Journal(tmp_path / "journal", TIC_TAC_TOE)

    def append(record):
        for _ in range(20):
            journal.append([record])

    threads = [threading.Thread(target=append, args=[record]) for record in records[:4]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(keys(journal.read())) == sorted(keys(records[:4]) * 20)
