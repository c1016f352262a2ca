"""The page on training names every setting with its default, every metric and backend."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from plainzero.networks.config import NetworkConfig
from plainzero.networks.network_evaluators import TOLERANCES
from plainzero.selfplay.config import SelfPlayConfig
from plainzero.training import metrics
from plainzero.training.settings import RunOptions, TrainingConfig

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = {
    "network": NetworkConfig,
    "selfplay": SelfPlayConfig,
    "training": TrainingConfig,
    "run": RunOptions,
}


def rows(text):
    """The cells of every row of the tables in a text."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def as_shown(value):
    text = json.dumps(value) if isinstance(value, bool) else f"{value:g}" if value else "0"
    return text.replace("-", "−")


@pytest.mark.parametrize("section", SECTIONS)
def test_every_setting_is_there_with_its_default(section):
    page = (DOCS / "training.md").read_text().split(f"\n### {section}\n")[1].split("\n### ")[0]
    shown = {}
    for names, defaults, *_ in rows(page.split("\n## ")[0]):
        names = re.findall(r"`(\w+)`", names)
        shown |= dict(zip(names, defaults.split(", "), strict=True))
    expected = {
        option.name: option.default
        if isinstance(option.default, str)
        else as_shown(option.default)
        if abs(option.default) < 1e6
        else str(option.default)
        for option in dataclasses.fields(SECTIONS[section])
    }
    assert shown == expected


def test_every_metric_is_explained():
    page = (DOCS / "training.md").read_text().split("\n## Metrics\n")[1].split("\n## ")[0]
    explained = {name for row in rows(page) for name in re.findall(r"`(\w+)`", row[0])}
    grouped = {name for names in metrics._GROUPS.values() for name in names}
    assert len(grouped) > 25
    assert grouped <= explained


def test_every_backend_is_there_with_its_tolerance():
    page = (DOCS / "training.md").read_text().split("\n## Backends\n")[1].split("\n## ")[0]
    shown = {row[0].strip("`"): float(row[-1]) for row in rows(page)}
    assert shown == TOLERANCES


def test_code_of_the_page_on_strength_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "strength.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})
    assert "Tally" in capsys.readouterr().out
