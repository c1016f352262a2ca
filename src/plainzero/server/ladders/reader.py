"""The ladders that the page shows: the user's own where there is one, else the bundled ones."""

from collections.abc import Callable, Iterator
from pathlib import Path

from plainzero.arena.ladder import Ladder
from plainzero.arena.ladder_agents import family_of, label_of
from plainzero.arena.ladder_files import bundled_ladder, ladder_file_name, read_ladder
from plainzero.games.contract import Game
from plainzero.server.api.schemas import ladders as messages
from plainzero.server.api.schemas.searching import (
    Agent,
    AlphaBetaAgent,
    NetworkAgent,
    PerfectAgent,
    RandomAgent,
    SearchAgent,
)

_EVALUATORS = {"uct": "rollout", "puct": "uniform", "threats": "threats", "bundled": "bundled"}

NameOfRun = Callable[[Path], str | None]
"""The catalogue's name of the run in a folder, if any."""


def find_ladder(game: Game, folder: Path) -> tuple[Ladder | None, bool]:
    """The game's ladder, and whether it is the bundled one.

    Raises:
        ValueError: if the user's own file is damaged.
    """
    path = folder / ladder_file_name(game)
    if path.is_file():
        own = read_ladder(path)
        if own.game == game.name and len(own.rated) > 1:
            return own, False
    return bundled_ladder(game), True


def describe_ladder(ladder: Ladder, is_bundled: bool, name_of_run: NameOfRun) -> messages.Ladder:
    """The ladder as the API describes it; paths do not leave the server.

    Args:
        ladder: the ladder.
        is_bundled: whether it is the bundled one, whose command is shown.
        name_of_run: for agents that are runs.
    """
    made = ladder.made
    machine = made.get("machine", {})
    place = f"{machine['cores']} cores of {machine['cpu']}" if machine else ""
    return messages.Ladder(
        anchor=label_of(ladder.anchor),
        rungs=[_describe_rung(ladder, number, name_of_run) for number in range(len(ladder.rungs))],
        pairs=list(_describe_pairs(ladder)),
        games=ladder.games,
        seconds=ladder.seconds,
        draw_rate=ladder.ratings.draw_rate,
        misfit=ladder.misfit,
        made=", ".join(filter(None, (str(made.get("date", "")), place))),
        command=str(made.get("command", "")) if is_bundled else "",
        is_bundled=is_bundled,
        placement=None,
        can_place=False,
    )


def _describe_rung(ladder: Ladder, number: int, name_of_run: NameOfRun) -> messages.LadderRung:
    rung = ladder.rungs[number]
    family, simulations = family_of(rung.agent) or ("", 0)
    return messages.LadderRung(
        label=label_of(rung.agent),
        elo=rung.elo,
        error=rung.error,
        games=rung.games,
        score=rung.score,
        agent=to_agent(rung.agent, name_of_run),
        family=label_of(f"{family}:0").removesuffix(":0") if family else "",
        simulations=simulations,
    )


def _describe_pairs(ladder: Ladder) -> Iterator[messages.LadderPair]:
    place = {rung.agent: number for number, rung in enumerate(ladder.rungs)}
    for pair in ladder.pairs:
        if not pair.games or pair.first not in place:
            continue
        names, wins, losses = (pair.first, pair.second), pair.wins, pair.losses
        if place[pair.first] > place[pair.second]:
            names, wins, losses = names[::-1], losses, wins
        yield messages.LadderPair(
            first=place[names[0]],
            second=place[names[1]],
            wins=wins,
            draws=pair.draws,
            losses=losses,
            expected=ladder.predict(*names)[0],
        )


def to_agent(spec: str, name_of_run: NameOfRun) -> Agent | None:
    """The API's form of an agent; None if it has none."""
    if spec == "random":
        return RandomAgent()
    if spec == "perfect":
        return PerfectAgent()
    kind, _, argument = spec.partition(":")
    if kind == "alphabeta" and argument.isdecimal():
        return AlphaBetaAgent(depth=int(argument))
    search = family_of(spec)
    if search is None or "," in search[0]:
        return None
    family, simulations = search
    if family in _EVALUATORS and simulations:
        return SearchAgent(evaluator=_EVALUATORS[family], simulations=simulations)  # type: ignore[arg-type]
    return _to_run_agent(family, simulations, name_of_run) if kind == "run" else None


def _to_run_agent(family: str, simulations: int, name_of_run: NameOfRun) -> Agent | None:
    """The agent of `run:FOLDER` or `run:FOLDER@STEP`."""
    folder, at, text = family.removeprefix("run:").rpartition("@")
    step = int(text) if at and text.isdecimal() else None
    run = name_of_run(Path(folder if step is not None else family.removeprefix("run:")))
    if run is None:
        return None
    if simulations:
        return SearchAgent(evaluator="network", run=run, step=step, simulations=simulations)
    return NetworkAgent(run=run, step=step)
