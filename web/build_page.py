"""Builds the page into the package, where its sources are newer than what is there.

`make page` and the packaging hook (hatch_build.py) both come here. It needs Node.js 20 or newer
with npm; without it the package works, and its server says that the page was not built.
"""

import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
PAGE = WEB.parent / "src" / "tesuji" / "server" / "page"
# Not `npm ci`: it wants the bundler's binaries for every other system to be in the lock file too.
_INSTALL = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--silent"]
_SOURCES = ("src", "public", "index.html", "package.json", "package-lock.json", "*.ts", "*.js")


def build() -> str:
    """Builds the page if need be; returns what was done or why not, in a few words.

    Raises:
        subprocess.CalledProcessError: when Node.js is there and the build fails.
    """
    if is_fresh():
        return "the page is up to date"
    if shutil.which("npm") is None:
        return "npm was not found, so the page was not built; install Node.js 20 or newer"
    subprocess.run(_INSTALL, cwd=WEB, check=True)
    subprocess.run(
        ["npm", "run", "build", "--silent", "--", "--logLevel", "warn"], cwd=WEB, check=True
    )
    return f"the page was built into {PAGE.relative_to(WEB.parent)}"


def is_fresh() -> bool:
    """Whether the built page is newer than everything it is made from."""
    index = PAGE / "index.html"
    if not index.is_file():
        return False
    built = index.stat().st_mtime
    return all(source.stat().st_mtime <= built for source in _sources())


def _sources() -> list[Path]:
    found = [path for pattern in _SOURCES for path in WEB.glob(pattern)]
    below = [path for folder in found if folder.is_dir() for path in folder.rglob("*")]
    return [path for path in [*found, *below] if path.is_file()]


if __name__ == "__main__":
    try:
        print(build())
    except subprocess.CalledProcessError as error:
        sys.exit(f"building the page failed: {' '.join(error.cmd)} exited with {error.returncode}")
