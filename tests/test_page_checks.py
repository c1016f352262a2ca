"""The page's build and its tests would notice: old pages, failed builds, a browser not there."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NPM = """#!/bin/sh
test "$1" = install && exit 0
mkdir -p ../page && cat src/*.ts > ../page/index.html
test ! -e broken
"""


@pytest.fixture
def build_page(tmp_path, monkeypatch):
    """The script that builds the page, and an npm that only joins files and can fail."""
    spec = importlib.util.spec_from_file_location("build_page", ROOT / "web" / "build_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "npm").write_text(NPM)
    (programs / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return module


@pytest.fixture
def web(tmp_path):
    """Sources of a page."""
    (tmp_path / "web" / "src").mkdir(parents=True)
    (tmp_path / "web" / "src" / "one.ts").write_text("one\n")
    (tmp_path / "web" / "src" / "two.ts").write_text("two\n")
    return tmp_path / "web"


def test_a_page_is_built_once(build_page, web, tmp_path):
    page = tmp_path / "page"
    assert "was built" in build_page.build(web, page)
    assert (page / "index.html").read_text() == "one\ntwo\n"
    assert build_page.build(web, page) == "the page is up to date"


def change(web):
    (web / "src" / "one.ts").write_text("another\n")


def change_in_the_past(web):
    change(web)
    os.utime(web / "src" / "one.ts", (0, 0))


def delete(web):
    (web / "src" / "one.ts").unlink()


def rename(web):
    (web / "src" / "one.ts").rename(web / "src" / "three.ts")


@pytest.mark.parametrize("edit", [change, change_in_the_past, delete, rename])
def test_a_page_of_other_sources_is_built_again(build_page, web, tmp_path, edit):
    page = tmp_path / "page"
    build_page.build(web, page)
    edit(web)
    assert not build_page.is_fresh(web, page)
    assert "was built" in build_page.build(web, page)
    assert build_page.is_fresh(web, page)


def test_a_build_that_fails_leaves_no_page(build_page, web, tmp_path):
    page = tmp_path / "page"
    build_page.build(web, page)
    change(web)
    (web / "broken").touch()
    with pytest.raises(subprocess.CalledProcessError):
        build_page.build(web, page)
    assert not page.exists()


def test_without_npm_an_old_page_goes_and_a_fresh_one_stays(build_page, web, tmp_path, monkeypatch):
    page = tmp_path / "page"
    build_page.build(web, page)
    monkeypatch.setenv("PATH", "")
    assert build_page.build(web, page) == "the page is up to date"
    change(web)
    assert "npm was not found" in build_page.build(web, page)
    assert not page.exists()


@pytest.mark.parametrize(
    ("flags", "status", "said"), [([], 0, "skipped"), (["--needs-browser"], 1, "error")]
)
def test_a_missing_browser_is_a_failure_where_one_is_needed(tmp_path, flags, status, said):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", *flags]
    ended = subprocess.run(
        [*command, "tests/web/test_learn_view.py"],
        cwd=ROOT,
        env={**os.environ, "PATH": str(tmp_path)},  # in which there is no chromium
        capture_output=True,
        text=True,
    )
    assert ended.returncode == status, ended.stdout
    assert said in ended.stdout and "there is no chromium" in ended.stdout
