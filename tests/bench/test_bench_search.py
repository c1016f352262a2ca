"""`plainzero bench search`: its table."""

import pytest

from plainzero.bench.measure import Report, Row
from plainzero.bench.search import search_workloads
from plainzero.cli.bench import _print_table


@pytest.mark.parametrize("has_peer", [True, False])
def test_the_table_has_units_in_a_column_and_fits_into_80(has_peer, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    versions = {"python": "3.12.1"} | ({"open_spiel": "12.10.12"} if has_peer else {})
    rows = [
        Row(work.name, 123.45e6, work.unit, "open_spiel 12.10.12", 123.45e3, 100.0)
        for work in search_workloads()
    ]
    _print_table(Report({"cpu": "a processor", "cores": 2}, versions, rows))
    out = capsys.readouterr().out
    *table, last = out.splitlines()
    assert all(len(line) <= 80 for line in table)
    assert "…" not in out
    numbers = [line for line in table if "123.45 M" in line]
    assert len(numbers) == len(rows)
    for line, row in zip(numbers, rows, strict=True):
        assert f"123.45 M  123.45 k  {row.unit} " in line
    is_missing = last.startswith("OpenSpiel is not installed, so there is nothing to compare with:")
    assert is_missing != has_peer
