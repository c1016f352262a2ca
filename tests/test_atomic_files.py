"""Where cached files are; what happens to them at a crash is tested with the runs."""

import os
from pathlib import Path

import pytest

from plainzero.atomic_files import cache_folder


def test_the_cache_is_where_the_user_wants_it(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "plainzero"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder() == Path.home() / ".cache" / "plainzero"


def test_a_user_without_a_home_folder_has_no_cache(monkeypatch):
    from plainzero.networks.gpu import choose_network

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(FileNotFoundError, match="no home folder"):
        cache_folder()
    choose_network._write_cache("key", "name")
    assert choose_network._read_cache() == {}
