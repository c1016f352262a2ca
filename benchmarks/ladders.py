"""The bundled ladders, their images, and docs/ladders.md: python benchmarks/ladders.py [GAME …]

Without games, only draws and writes from the bundled files. With games, first plays each one's
ladder anew, one after the other, by `plainzero rate GAME --minutes 6`; GNU Go takes part in Go if
it is installed.
"""

import argparse
import sys
from pathlib import Path

from plainzero import make_game
from plainzero.arena.ladder_files import BUNDLED, read_ladder
from plainzero.arena.ladder_text import write_markdown
from plainzero.arena.plots import plot_ladder
from plainzero.cli.main import main as run_command

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "ladders.md"
IMAGES = DOCS / "images"
START = "<!-- by benchmarks/ladders.py from here -->\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", help="played anew")
    parser.add_argument("--minutes", type=float, default=6.0, help="of games for each")
    options = parser.parse_args()
    for game in options.games:
        file = BUNDLED / f"{make_game(game).title()}.json"
        file.unlink(missing_ok=True)
        command = ["rate", game, "--minutes", f"{options.minutes:g}", "--ladder", str(file)]
        if code := run_command(command):
            return code
    write_page()
    return 0


def write_page() -> None:
    """Draws every bundled ladder and writes the tables into the page."""
    PAGE.write_text(PAGE.read_text().partition(START)[0] + START + sections())
    for file in sorted(BUNDLED.glob("*.json")):
        ladder, image = read_ladder(file), IMAGES / image_name(file)
        _, bitmap = plot_ladder(ladder, title_of(file), image)
        bitmap.unlink()


def sections() -> str:
    """The part of the page that is made from the files: a section for each game."""
    parts = []
    for file in sorted(BUNDLED.glob("*.json")):
        title = title_of(file)
        image = f"![{title}: Elo by agent, with 95 % intervals](images/{image_name(file)})"
        parts.append(f"\n## {title}\n\n{image}\n\n{write_markdown(read_ladder(file))}")
    return "".join(parts)


def title_of(file: Path) -> str:
    """The game's name as a heading."""
    return " ".join(word.capitalize() for word in file.stem.split("-"))


def image_name(file: Path) -> str:
    """The name of its image."""
    return f"ladder_{file.stem.replace('-', '_')}.svg"


if __name__ == "__main__":
    sys.exit(main())
