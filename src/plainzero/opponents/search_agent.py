"""Who plays: `uct:1000`, `alphabeta:6`, `perfect`, `run:FOLDER@STEP:SIMS`, `gtp:COMMAND`, ….

An agent is an `Opponent`: it has a name and chooses moves for a list of positions at once. A search
starts anew at each move, and all chance comes from the seed, so a match can be played again.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.arena.engine_specs import is_engine, make_engine_player
from plainzero.games.contract import Game, State
from plainzero.opponents.agent import Opponent
from plainzero.search.api import Searcher
from plainzero.search.config import SearchConfig, lay_over, parse_option
from plainzero.search.evaluators import Evaluator, evaluate

FORMS = (
    "random, uct:SIMULATIONS, puct:SIMULATIONS, alphabeta:DEPTH, perfect, "
    "run:FOLDER[@STEP]:SIMULATIONS (0: the network alone), shipped:SIMULATIONS (the network that "
    "comes with the game), threats:SIMULATIONS (gomoku), gtp:COMMAND or gomocup:COMMAND; with "
    "search options after a comma, as in uct:1000,c_uct=1, for a network also symmetries, to "
    "average over the board's symmetries, and limits of an engine in brackets, as in "
    "gtp[seconds=10]:gnugo --mode gtp"
)
SYMMETRIES = "symmetries"
_RAW_BATCH = 1024  # positions that a network sees at once


@dataclass(eq=False)
class SearchAgent:
    """Plays what a search chooses; positions are searched side by side."""

    name: str
    game: Game
    evaluator: Evaluator
    config: SearchConfig

    def choose(self, states: Sequence[State], seed: int) -> list[int]:
        """The move for each position."""
        searcher = self.searcher()
        actions: list[int] = []
        step = side_by_side(searcher)
        for first in range(0, len(states), step):
            batch = list(states[first : first + step])
            results = searcher.search(batch, child_seed(seed, first))
            actions += [int(result.action) for result in results]
        return actions

    def searcher(self) -> Searcher:
        """A searcher with the agent's evaluator and options."""
        return Searcher(self.game, self.evaluator, self.config)


@dataclass(eq=False)
class NetworkAgent:
    """Plays the legal move of the largest logit, without any search."""

    name: str
    game: Game
    evaluator: Callable[[NDArray[np.float32]], tuple[Any, Any]]

    def choose(self, states: Sequence[State], seed: int) -> list[int]:
        """The move for each position; the lowest action of equals."""
        logits, _ = evaluate_states(self.game, self.evaluator, states)
        return best_legal(self.game, states, logits)


def parse_agent(spec: str, game: Game) -> Opponent:
    """The agent that `spec` names, to play `game`.

    Raises:
        ValueError: when there is no such agent, or it does not play that game.
    """
    if is_engine(spec):
        return make_engine_player(spec.strip(), game)
    kind, colon, argument = spec.strip().partition(":")
    makers: dict[str, Callable[[str, str, Game], Opponent]] = {
        "random": _make_random,
        "uct": _make_search,
        "puct": _make_search,
        "alphabeta": _make_alpha_beta,
        "perfect": _make_perfect,
        "threats": _make_threats,
        "run": _make_run,
        "shipped": _make_shipped,
    }
    if kind not in makers or bool(colon) != (kind not in ("random", "perfect")):
        raise ValueError(f"there is no agent {spec!r}; write {FORMS}")
    return makers[kind](spec.strip(), argument, game)


def game_of_agents(specs: Sequence[str]) -> Game | None:
    """The game of the first run among the agents; None where there is no run."""
    for spec in specs:
        if spec.strip().startswith("run:"):
            from plainzero.training.saved_run import open_run

            game: Game = open_run(_parse_run(spec.strip()).folder).game
            return game
    return None


def side_by_side(searcher: Searcher) -> int:
    """How many whole trees fit in memory; one where the clock ends a search."""
    if searcher.config.seconds:
        return 1
    return max(1, searcher.config.max_bytes // max(1, searcher.planned_bytes(1)))


def evaluate_states(
    game: Game,
    evaluator: Callable[[NDArray[np.float32]], tuple[Any, Any]],
    states: Sequence[State],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Logits [n, A] and values [n, 1 or players] of positions, a batch at a time."""
    logits, values = [], []
    for first in range(0, len(states), _RAW_BATCH):
        planes = np.stack([game.observation(state) for state in states[first : first + _RAW_BATCH]])
        batch_logits, batch_values = evaluate(evaluator, planes, game)
        logits.append(batch_logits)
        values.append(batch_values)
    return np.concatenate(logits), np.concatenate(values)


def best_legal(game: Game, states: Sequence[State], logits: NDArray[np.float32]) -> list[int]:
    """The legal action of the largest logit in each position; the lowest of equals."""
    chosen = []
    for state, row in zip(states, logits, strict=True):
        legal = sorted(game.legal(state))
        chosen.append(legal[int(row[legal].argmax())])
    return chosen


def child_seed(*numbers: int) -> int:
    """A seed that depends on all the numbers, each 0 or more."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _make_random(spec: str, argument: str, game: Game) -> Opponent:
    from plainzero.opponents.random_agent import RandomPlayer

    return RandomPlayer(game)


def _make_perfect(spec: str, argument: str, game: Game) -> Opponent:
    from plainzero.opponents.perfect import Perfect

    return Perfect(game)


def _make_alpha_beta(spec: str, argument: str, game: Game) -> Opponent:
    from plainzero.opponents.alpha_beta import AlphaBeta

    depth, _, seconds = argument.partition(",seconds=")
    if seconds and not re.fullmatch(r"\d+(\.\d+)?", seconds):
        raise ValueError(f"the seconds of {spec!r} are {seconds!r}; they must be a number")
    return AlphaBeta(game, _count(spec, depth, smallest=1), float(seconds or 0))


def _make_search(spec: str, argument: str, game: Game) -> Opponent:
    count, _, options = argument.partition(",")
    config = SearchConfig(simulations=_count(spec, count, smallest=1))
    evaluator = "rollout" if spec.startswith("uct") else "uniform"
    return _checked(SearchAgent(spec, game, evaluator, _with_options(spec, config, options)))


def _make_threats(spec: str, argument: str, game: Game) -> Opponent:
    from plainzero.opponents.gomoku_evaluator_kernels import ThreatsEvaluator, make_config

    count, _, options = argument.partition(",")
    config = make_config(_count(spec, count, smallest=1))
    evaluator = ThreatsEvaluator(game)
    return _checked(SearchAgent(spec, game, evaluator, _with_options(spec, config, options)))


def _make_run(spec: str, argument: str, game: Game) -> Opponent:
    from plainzero.training.saved_run import open_run

    named = _parse_run(spec)
    run = open_run(named.folder)
    if run.game != game:
        raise ValueError(f"{named.folder} is a run of {run.game.name}, not of {game.name}")
    evaluator = run.evaluator(named.step)
    how = _NetworkPlay(spec, named.simulations, named.options, run.search_config)
    return _make_network_agent(how, game, evaluator)


def _make_shipped(spec: str, argument: str, game: Game) -> Opponent:
    from plainzero.opponents.bundled_networks import find_shipped

    count, _, options = argument.partition(",")
    simulations = _count(spec, count, smallest=0)
    file = find_shipped(game)  # says what is missing where PyTorch is
    from plainzero.networks.network_evaluators import make_evaluator

    evaluator = make_evaluator(file.load(game), game, "torch")
    how = _NetworkPlay(spec, simulations, options, file.search_config)
    return _make_network_agent(how, game, evaluator)


class _NetworkPlay(NamedTuple):
    spec: str
    simulations: int  # 0: the network alone
    options: str
    search_config: Callable[[int], SearchConfig]  # for so many simulations


def _make_network_agent(how: _NetworkPlay, game: Game, evaluator: Any) -> Opponent:
    options = how.options
    if SYMMETRIES in options.split(","):
        from plainzero.networks.symmetry_average import AveragingEvaluator

        evaluator = AveragingEvaluator(evaluator, game)
        options = ",".join(part for part in options.split(",") if part != SYMMETRIES)
    if how.simulations == 0:
        if options:
            raise ValueError(f"{how.spec!r} searches nothing, so it has no search options")
        return NetworkAgent(how.spec, game, evaluator)
    config = _with_options(how.spec, how.search_config(how.simulations), options)
    return _checked(SearchAgent(how.spec, game, evaluator, config))


@dataclass(frozen=True)
class _NamedRun:
    folder: str
    step: int | None  # the newest
    simulations: int
    options: str


def _parse_run(spec: str) -> _NamedRun:
    """The parts of `run:FOLDER[@STEP]:SIMULATIONS[,option=value…]`; the folder may hold colons."""
    match = re.fullmatch(r"run:(?P<place>.+):(?P<count>\d+)(,(?P<options>[^:]*))?", spec)
    if match is None:
        raise ValueError(
            f"{spec!r} does not name a run to play; write run:FOLDER[@STEP]:SIMULATIONS, "
            "as in run:runs/first:200 or run:runs/first@5000:0"
        )
    folder, at, step = match["place"].rpartition("@")
    if not (at and folder and step.isdigit()):
        folder, step = match["place"], ""
    return _NamedRun(
        folder, int(step) if step else None, int(match["count"]), match["options"] or ""
    )


def _count(spec: str, text: str, smallest: int) -> int:
    if not (text.isdigit() and int(text) >= smallest):
        raise ValueError(f"there is no agent {spec!r}; write {FORMS}")
    return int(text)


def _with_options(spec: str, config: SearchConfig, text: str) -> SearchConfig:
    """The config with the options of `option=value,option=value`."""
    changed = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ValueError(f"{part!r} in {spec!r} is not an option=value, as in c_puct=2")
        changed[name] = parse_option(name, value)
    return lay_over(config, changed)


def _checked(agent: SearchAgent) -> SearchAgent:
    """The agent, refused now rather than in the middle of a match where it cannot search."""
    agent.searcher()
    return agent
