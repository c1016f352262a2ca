"""Builds the page into the package, unless its sources are those it was built from.

Used by `make page` and by the packaging hook (hatch_build.py). It needs Node.js 20 or newer with
npm; without them the package works, and its server says that the page was not built.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
PAGE = WEB.parent / "src" / "plainzero" / "server" / "page"
# Not `npm ci`, which wants the bundler's binaries for all other systems in the lock file too.
_INSTALL = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--silent"]
_BUILD = ["npm", "run", "build", "--silent", "--", "--logLevel", "warn"]
_SOURCES = ("src", "public", "index.html", "package.json", "package-lock.json", "*.ts", "*.js")
_DIGEST = "sources.sha256"  # in the page's folder: of what it was built from


def build(web: Path = WEB, page: Path = PAGE) -> str:
    """Builds the page if needed; returns what was done, or why not, in a few words.

    A page of other sources is removed first: better none than one that does not fit the server.

    Raises:
        subprocess.CalledProcessError: when Node.js is there and the build fails.
    """
    if is_fresh(web, page):
        return "the page is up to date"
    shutil.rmtree(page, ignore_errors=True)
    if shutil.which("npm") is None:
        return "npm was not found, so the page was not built; install Node.js 20 or newer"
    digest = _digest_sources(web)  # taken before: edits during the build are built next time
    try:
        subprocess.run(_INSTALL, cwd=web, check=True)
        subprocess.run(_BUILD, cwd=web, check=True)
    except BaseException:  # also an interrupt, which would leave half a page
        shutil.rmtree(page, ignore_errors=True)
        raise
    (page / _DIGEST).write_text(digest)
    return f"the page was built into {page}"


def is_fresh(web: Path = WEB, page: Path = PAGE) -> bool:
    """Whether the page was built from these sources."""
    built_from = page / _DIGEST
    return built_from.is_file() and built_from.read_text() == _digest_sources(web)


def _digest_sources(web: Path) -> str:
    """A digest of all names and contents."""
    found = [path for pattern in _SOURCES for path in web.glob(pattern)]
    below = [path for folder in found if folder.is_dir() for path in folder.rglob("*")]
    digest = hashlib.sha256()
    for path in sorted(path for path in [*found, *below] if path.is_file()):
        digest.update(path.relative_to(web).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


if __name__ == "__main__":
    try:
        print(build())
    except subprocess.CalledProcessError as error:
        sys.exit(f"building the page failed: {' '.join(error.cmd)} exited with {error.returncode}")
