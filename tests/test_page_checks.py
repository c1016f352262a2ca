"""The build of the page notices old pages, failed builds and a missing npm; packages need it."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

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


@pytest.fixture
def project(tmp_path, web):
    """A copy of what packaging needs, with two modules and the sources of a page."""
    for name in (".gitignore", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    package = tmp_path / "src" / "plainzero"
    (package / "server").mkdir(parents=True)
    for name in ("__init__.py", "py.typed"):
        shutil.copy(ROOT / "src" / "plainzero" / name, package)
    script = (ROOT / "web" / "build_page.py").read_text()
    (web / "build_page.py").write_text(script)
    return tmp_path


NPM_OF_PROJECT = NPM.replace("../page", "../src/plainzero/server/page")


def package(project, kind, npm, **variables):
    """The names in a package built there, and what the builder printed; `npm` is its script."""
    pytest.importorskip("hatchling", reason="needs hatchling")
    programs = project / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "npm").unlink(missing_ok=True)
    if npm:
        (programs / "npm").write_text(npm)
        (programs / "npm").chmod(0o755)
    program = (
        "import sys; from hatchling import build; "
        f"print(getattr(build, 'build_' + {kind!r})({str(project / 'built')!r}))"
    )
    tools = os.pathsep.join(filter(os.path.isdir, ("/bin", "/usr/bin"))) if npm else ""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{tools}", **variables},
        capture_output=True,
        text=True,
    )
    said = ended.stdout + ended.stderr
    if ended.returncode:
        return [], said
    (built,) = (project / "built").iterdir()
    if built.suffix == ".whl":
        return zipfile.ZipFile(built).namelist(), said
    with tarfile.open(built) as archive:
        return archive.getnames(), said


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_package_has_the_page_and_says_that_it_is_typed(project, kind):
    names, said = package(project, kind, NPM_OF_PROJECT)
    ends = ("plainzero/server/page/index.html", "plainzero/py.typed")
    assert all(any(name.endswith(end) for name in names) for end in ends), said


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_a_package_has_every_module(project, kind):
    modules = [path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*.py")]
    for module in modules:
        (project / "src" / module).parent.mkdir(parents=True, exist_ok=True)
        (project / "src" / module).touch()
    names, _ = package(project, kind, "", PLAINZERO_WITHOUT_PAGE="1")
    packed = {name.partition("plainzero/")[2] for name in names if "plainzero/" in name}
    assert len(modules) > 200 and {m.relative_to("plainzero").as_posix() for m in modules} <= packed


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
@pytest.mark.parametrize(
    ("npm", "reason"),
    [("", "npm was not found, so the page was not built"), ("#!/bin/sh\nexit 3", "status 3")],
    ids=["no npm", "npm fails"],
)
def test_a_package_without_the_page_needs_a_flag(project, kind, npm, reason):
    names, said = package(project, kind, npm)
    assert names == [] and reason in said
    assert "or set PLAINZERO_WITHOUT_PAGE=1 for a package without the page" in said
    names, said = package(project, kind, npm, PLAINZERO_WITHOUT_PAGE="1")
    assert any(name.endswith("plainzero/py.typed") for name in names)
    assert not any("page/" in name for name in names)
    assert reason in said and "the package has no page" in said


def test_an_editable_install_does_without_npm(project):
    pytest.importorskip("editables", reason="needs editables")
    names, said = package(project, "editable", "")
    assert names and "npm was not found" in said


@pytest.mark.parametrize(
    ("flags", "status", "said"), [([], 0, "skipped"), (["--needs-all"], 1, "error")]
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
