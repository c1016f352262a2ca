"""Frame and drawing times while panning a tree of 2,000 nodes on the page.

    python benchmarks/panning.py [--nodes 2000] [--seconds 3] [--zoom CLICKS] [--json FILE]

Starts `plainzero serve`, opens a Connect Four search with that many nodes in headless Chromium, and
drags the tree with the mouse. Frame times are measured between calls of requestAnimationFrame;
drawing times are measured by the page. Without a GPU the browser renders in software.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
MEASURE = "draw the tree"
BOUND = 8.0  # milliseconds allowed per drawing
PATIENCE = 120_000  # milliseconds

LISTEN = """(name) => {
  window.seen = { frames: [], draws: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.name === name) window.seen.draws.push(entry.duration);
    }
  }).observe({ entryTypes: ["measure"] });
  let last = performance.now();
  const tick = (now) => {
    window.seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}"""


def main() -> int:
    arguments = read_arguments()
    command = [sys.executable, "-m", "plainzero.cli", "serve", "--port", "0", "--no-training"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://\S+", process.stdout.readline())[0]
            found = measure(address, arguments)
        finally:
            process.terminate()
    print(json.dumps(found, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(found))
    return 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument(
        "--zoom", type=int, default=0, help="number of clicks on Zoom in before panning"
    )
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def measure(address: str, arguments: argparse.Namespace) -> dict[str, object]:
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.goto(
            f"{address}/#/watch?game=connect-four&evaluator=rollout&simulations=5000&think=1"
            f"&nodes={arguments.nodes}"
        )
        page.get_by_text(f"{arguments.nodes} of ").wait_for()
        for _ in range(arguments.zoom):
            page.get_by_role("button", name="Zoom in").click()
        page.wait_for_timeout(1000)
        found = pan(page, arguments.seconds)
        browser.close()
    return {"nodes": arguments.nodes, "zoom": arguments.zoom, **found, "bound_ms": BOUND}


def pan(page: Page, seconds: float) -> dict[str, float]:
    """Drags back and forth over the canvas, and measures frames and drawings."""
    canvas = page.get_by_role("application", name="Search tree")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    middle_x, middle_y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(middle_x, middle_y)
    page.mouse.down()
    page.evaluate(LISTEN, MEASURE)
    start, moves = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        moves += 1
        swing = abs(moves % 80 - 40) - 20  # from −20 to 20 and back
        page.mouse.move(middle_x + 7 * swing, middle_y + 2 * swing)
    seen = page.evaluate("window.seen")
    page.mouse.up()
    return {
        "mouse_moves": moves,
        "frames": len(seen["frames"]),
        "frames_per_second": round(1000 * len(seen["frames"]) / sum(seen["frames"]), 1),
        "median_frame_ms": round(statistics.median(seen["frames"]), 2),
        "p95_frame_ms": round(percentile(seen["frames"], 0.95), 2),
        "draws": len(seen["draws"]),
        "median_draw_ms": round(statistics.median(seen["draws"]), 2),
        "p95_draw_ms": round(percentile(seen["draws"], 0.95), 2),
    }


def percentile(numbers: list[float], share: float) -> float:
    return sorted(numbers)[min(len(numbers) - 1, int(share * len(numbers)))]


if __name__ == "__main__":
    sys.exit(main())
