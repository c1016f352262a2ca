"""Agents from their specs: `uct:1000`, `alphabeta:6`, `run:FOLDER@STEP:200`, `gtp:COMMAND`, ….

A search agent starts a new tree at each move, and all randomness comes from the seed, so a match
can be replayed. docs/strength.md lists all specs.
"""

import difflib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from plainzero.arena.engine_specs import ENGINE_KINDS, is_engine, make_engine_agent
from plainzero.games.contract import Game
from plainzero.opponents.agent import Agent
from plainzero.opponents.book_agent import BookAgent
from plainzero.opponents.search_agent import NetworkAgent, SearchAgent
from plainzero.search.config import SearchConfig, parse_option, with_options

SYMMETRIES = "symmetries"
"""The option with which a network's answers are averaged over the board's symmetries."""

BOOK = "book"
"""The option with which the opening book corrects an agent's moves."""


def parse_agent(spec: str, game: Game) -> Agent:
    """The agent that `spec` describes, to play `game`.

    Raises:
        ValueError: for an unknown or incomplete spec, or an agent that cannot play the game.
    """
    spec = spec.strip()
    if is_engine(spec):
        return make_engine_agent(spec, game)
    kind, colon, argument = spec.partition(":")
    if kind in _WITHOUT_ARGUMENT:
        if colon:
            raise ValueError(f"{kind} takes no argument; write {kind} instead of {spec!r}")
        return _WITHOUT_ARGUMENT[kind](game)
    if kind in _WITH_ARGUMENT:
        without, uses_book = _split_book(argument)
        agent = _WITH_ARGUMENT[kind](_Spec(spec, kind, without), game)
        return BookAgent(spec, agent, game) if uses_book else agent
    raise _unknown_kind(kind)


def is_agent_kind(spec: str) -> bool:
    """Whether the spec begins like an agent's; the rest may be wrong."""
    kind = spec.strip().partition(":")[0]
    return kind in _WITHOUT_ARGUMENT or kind in _WITH_ARGUMENT or is_engine(spec)


def game_of_agents(specs: Sequence[str]) -> Game | None:
    """The game of the first run among the agents, if any."""
    for spec in specs:
        kind, _, argument = spec.strip().partition(":")
        if kind == "run":
            from plainzero.training.saved_run import open_run

            game: Game = open_run(_parse_run(_Spec(spec.strip(), kind, argument)).folder).game
            return game
    return None


def run_weights(spec: str) -> Path:
    """The file of the weights with which `run:FOLDER…` plays.

    Raises:
        ValueError: if there is no such run, or it has no weights yet.
    """
    from plainzero.training.run_folder import RunFolder
    from plainzero.training.saved_run import open_run

    named = _parse_run(_Spec(spec, *spec.split(":", 1)))
    step = open_run(named.folder).playing_step() if named.step is None else named.step
    return RunFolder(named.folder).weights_file(step)


class _Spec(NamedTuple):
    text: str
    kind: str
    argument: str  # all that follows the first colon


def _split_book(argument: str) -> tuple[str, bool]:
    """The argument without the option `book`, and whether it was there; folders may hold commas."""
    place, colon, options = argument.rpartition(":")
    first, *others = options.split(",")
    kept = [option for option in others if option.strip() != BOOK]
    return place + colon + ",".join([first, *kept]), len(kept) < len(others)


def _unknown_kind(kind: str) -> ValueError:
    kinds = [*_WITHOUT_ARGUMENT, *_WITH_ARGUMENT, *ENGINE_KINDS]
    if close := difflib.get_close_matches(kind, kinds, n=1):
        return ValueError(f"unknown agent {kind!r}; did you mean {close[0]}?")
    return ValueError(f"unknown agent {kind!r}; agents are {', '.join(kinds)}")


def _make_random(game: Game) -> Agent:
    from plainzero.opponents.random_agent import RandomAgent

    return RandomAgent(game)


def _make_perfect(game: Game) -> Agent:
    from plainzero.opponents.exact_values import ExactAgent, has_exact_values
    from plainzero.opponents.perfect import PerfectAgent

    return ExactAgent(game) if has_exact_values(game) else PerfectAgent(game)


def _make_alpha_beta(spec: _Spec, game: Game) -> Agent:
    from plainzero.opponents.alpha_beta import AlphaBeta

    depth, _, seconds = spec.argument.partition(",seconds=")
    if seconds and not re.fullmatch(r"\d+(\.\d+)?", seconds):
        raise ValueError(f"{spec.text}: seconds must be a number, not {seconds!r}")
    return AlphaBeta(game, _parse_count(spec, depth, "depth", example=6), float(seconds or 0))


def _make_search(spec: _Spec, game: Game) -> Agent:
    simulations, options = _split_simulations(spec, example=1000)
    evaluator = "rollout" if spec.kind == "uct" else "uniform"
    config = _with_options(spec.text, SearchConfig(simulations=simulations), options)
    return _checked(SearchAgent(spec.text, game, evaluator, config))


def _make_threats(spec: _Spec, game: Game) -> Agent:
    from plainzero.opponents.gomoku_evaluator import ThreatsEvaluator, make_config

    simulations, options = _split_simulations(spec, example=400)
    evaluator = ThreatsEvaluator(game)
    config = _with_options(spec.text, make_config(simulations), options)
    return _checked(SearchAgent(spec.text, game, evaluator, config))


def _make_run(spec: _Spec, game: Game) -> Agent:
    from plainzero.training.saved_run import open_run

    named = _parse_run(spec)
    run = open_run(named.folder).for_game(game)
    play = _NetworkPlay(spec.text, named.simulations, named.options, run.search_config)
    return _make_network_agent(play, game, run.evaluator(named.step))


def _make_bundled(spec: _Spec, game: Game) -> Agent:
    from plainzero.opponents.bundled_networks import find_bundled_network

    simulations, options = _split_simulations(spec, example=200, smallest=0)
    file = find_bundled_network(game)  # before the import, because it says if PyTorch is missing
    from plainzero.networks.network_evaluators import make_evaluator

    evaluator = make_evaluator(file.load(game), game, "torch")
    play = _NetworkPlay(spec.text, simulations, options, file.search_config)
    return _make_network_agent(play, game, evaluator)


_WITHOUT_ARGUMENT: dict[str, Callable[[Game], Agent]] = {
    "random": _make_random,
    "perfect": _make_perfect,
}
_WITH_ARGUMENT: dict[str, Callable[[_Spec, Game], Agent]] = {
    "uct": _make_search,
    "puct": _make_search,
    "alphabeta": _make_alpha_beta,
    "threats": _make_threats,
    "run": _make_run,
    "bundled": _make_bundled,
}


class _NetworkPlay(NamedTuple):
    spec: str
    simulations: int  # 0: the network alone
    options: str
    search_config: Callable[[int], SearchConfig]  # from the number of simulations


def _make_network_agent(play: _NetworkPlay, game: Game, evaluator: Any) -> Agent:
    options = play.options
    if SYMMETRIES in options.split(","):
        from plainzero.networks.symmetry_average import AveragingEvaluator

        evaluator = AveragingEvaluator(evaluator, game)
        options = ",".join(part for part in options.split(",") if part != SYMMETRIES)
    if play.simulations == 0:
        if options:
            raise ValueError(f"{play.spec!r} does not search, so it takes no search options")
        return NetworkAgent(play.spec, game, evaluator)
    config = _with_options(play.spec, play.search_config(play.simulations), options)
    return _checked(SearchAgent(play.spec, game, evaluator, config))


class _NamedRun(NamedTuple):
    folder: str
    step: int | None  # None: the newest
    simulations: int
    options: str


def _parse_run(spec: _Spec) -> _NamedRun:
    """The parts of `run:FOLDER[@STEP]:SIMULATIONS[,option=value…]`; the folder may hold colons."""
    match = re.fullmatch(r"(?P<place>.+):(?P<count>\d+)(,(?P<options>[^:]*))?", spec.argument)
    if match is None:
        folder = spec.argument.rpartition(":")[0] or spec.argument or "runs/first"
        raise ValueError(
            f"{spec.text!r} must name a folder and a number of simulations, as in run:{folder}:200"
        )
    folder, at, step = match["place"].rpartition("@")
    if not (at and folder and step.isdecimal()):
        folder, step = match["place"], ""
    return _NamedRun(
        folder, int(step) if step else None, int(match["count"]), match["options"] or ""
    )


def _split_simulations(spec: _Spec, example: int, smallest: int = 1) -> tuple[int, str]:
    """The number of simulations and the options of `SIMULATIONS,option=value…`."""
    count, _, options = spec.argument.partition(",")
    return _parse_count(spec, count, "simulations", example, smallest), options


def _parse_count(spec: _Spec, text: str, what: str, example: int, smallest: int = 1) -> int:
    if not text.strip():
        needed = "a depth" if what == "depth" else f"a number of {what}"
        raise ValueError(f"{spec.kind} needs {needed}, as in {spec.kind}:{example}")
    if not (text.isdecimal() and int(text) >= smallest):
        raise ValueError(
            f"{spec.text}: {what} must be a whole number of {smallest} or more, not {text!r}"
        )
    return int(text)


def _with_options(spec: str, config: SearchConfig, text: str) -> SearchConfig:
    """The config with the options of `option=value,option=value`."""
    changed = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ValueError(f"{spec}: {part!r} must be option=value, as in c_puct=2")
        changed[name] = parse_option(name, value)
    return with_options(config, changed)


def _checked(agent: SearchAgent) -> SearchAgent:
    """The agent; an invalid search is refused now rather than in the middle of a match."""
    agent.searcher()
    return agent
