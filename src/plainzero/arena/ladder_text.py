"""A ladder as Markdown."""

from plainzero.arena.ladder import Ladder
from plainzero.arena.ladder_agents import label_of

_MISFIT = 3.0  # worth a word; with few pairs, 2 can be chance


def write_markdown(ladder: Ladder) -> str:
    """Two tables, the ratings and the games of each pair, and how they were made."""
    lines = [
        f"| agent | Elo above `{ladder.anchor}` | games | points |",
        "| --- | ---: | ---: | ---: |",
    ]
    for rung in ladder.rungs:
        error = f" ± {rung.error:.0f}" if rung.agent != ladder.anchor else ""
        elo = f"{rung.elo:+.0f}{error}" if error else "0"
        lines.append(f"| {_code(rung.agent)} | {elo} | {rung.games} | {100 * rung.score:.0f} % |")
    lines += ["", describe(ladder), "", "<details><summary>Games of each pair</summary>", ""]
    lines += [
        "| stronger | weaker | games | won | drawn | lost | points | expected |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in pair_rows(ladder):
        lines.append("| " + " | ".join([_code(row[0]), _code(row[1]), *row[2:]]) + " |")
    return "\n".join([*lines, "", "</details>", ""])


def pair_rows(ladder: Ladder) -> list[tuple[str, ...]]:
    """For each pair, the stronger agent first: both, games, won, drawn, lost, points, expected."""
    place = {rung.agent: number for number, rung in enumerate(ladder.rungs)}
    rows = []
    for pair in ladder.pairs:
        if not pair.games or pair.first not in place:
            continue
        expected, points = ladder.predict(pair.first, pair.second)[0], pair.points / pair.games
        names, won, lost = (pair.first, pair.second), pair.wins, pair.losses
        if place[pair.first] > place[pair.second]:
            names, won, lost = names[::-1], lost, won
            expected, points = 1 - expected, 1 - points
        counts = (str(count) for count in (pair.games, won, pair.draws, lost))
        shares = (f"{100 * share:.0f} %" for share in (points, expected))
        rows.append((*names, *counts, *shares))
    return sorted(rows, key=lambda row: (place[row[0]], place[row[1]]))


def describe(ladder: Ladder) -> str:
    """How many games were played, in what time, by which command, and where."""
    made, seconds = ladder.made, ladder.seconds
    time = f"{seconds / 60:.1f} minutes" if seconds >= 60 else f"{seconds:.0f} seconds"
    parts = [f"{ladder.games} games in {time}"]
    if made:
        machine = made["machine"]
        parts.append(
            f"{made['date']}, plainzero {made['versions'].get('plainzero', '?')}, "
            f"{machine['cores']} cores of {machine['cpu']}"
        )
        parts.append(f"`{made['command']}`")
    draws = f"Equal agents draw {100 * ladder.ratings.draw_rate:.0f} % of their games."
    misfit = (
        f" Strength is not one number here: the results of pairs vary {ladder.misfit:.0f} times as "
        "much as by chance, which widens the intervals."
    )
    return "; ".join(parts) + f". {draws}" + misfit * (ladder.misfit >= _MISFIT)


def _code(agent: str) -> str:
    label = label_of(agent)
    return f"`{label}`" if label == agent else label
