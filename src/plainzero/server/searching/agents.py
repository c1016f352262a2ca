"""The agents of the API: each chooses a move in a position and reports its analysis."""

import time
from typing import Any

import numpy as np

from plainzero.games.contract import Game
from plainzero.opponents.agent import Stopped
from plainzero.opponents.alpha_beta import AlphaBeta
from plainzero.opponents.book_agent import correct_move
from plainzero.opponents.connect_four.opening_book import has_book
from plainzero.opponents.gomoku_evaluator import ThreatsEvaluator, make_config
from plainzero.opponents.perfect import compile_solver, has_perfect
from plainzero.opponents.search_agent import evaluate_states
from plainzero.search.api import Searcher
from plainzero.search.config import SearchConfig, option_kinds, with_options
from plainzero.search.kernels.tree import ROOT
from plainzero.search.result import SearchResult
from plainzero.server.api.schemas import searching as messages
from plainzero.server.options import ServerOptions
from plainzero.server.position_views import legal_moves, name_move
from plainzero.server.runs.loaded_networks import LoadedNetworks
from plainzero.server.searching.analysis import analyse
from plainzero.server.searching.compile_thread import CompileThread
from plainzero.server.searching.scheduler import Slot
from plainzero.server.searching.solver_agents import (
    OnProgress,
    Query,
    find_outcomes,
    make_analysis,
    run_alpha_beta,
    run_perfect,
)

_PROGRESS_SECONDS = 0.1  # between two reports
_SERVER_OPTIONS = ("simulations", "visits", "nodes", "seconds", "max_bytes", "trace")
_OPTION_LIMITS = {"rollouts": 100, "leaves": 256}
_MAX_ROLLOUTS_PER_ROUND = 256  # so that a search often yields and checks its stop flag


class Agents:
    """Runs the agents of the API.

    Args:
        options: limits, and the memory of a search.
        networks: of the runs, and the bundled ones.
    """

    def __init__(self, options: ServerOptions, networks: LoadedNetworks) -> None:  # noqa: D107
        self._options, self._networks = options, networks
        self._compile_thread = CompileThread()

    def close(self) -> None:
        """Stops compiling ahead."""
        self._compile_thread.close()

    def answer(
        self,
        game: Game,
        state: Any,
        agent: messages.Agent,
        seed: int,
        slot: Slot,
        on_progress: OnProgress | None = None,
    ) -> messages.SearchAnswer:
        """The agent's move, with its analysis.

        Raises:
            ValueError: if the game is over, or the agent is not available.
            Stopped: if it was stopped before it had a result.
        """
        _require_choice(state)
        query = Query(game, state, seed, slot, on_progress)
        start = time.perf_counter()
        if isinstance(agent, messages.SearchAgent):
            result, step = self.search(game, state, agent, seed, slot, on_progress)
            action, analysis = _use_book(agent, result, analyse(result, step), seed)
        elif isinstance(agent, messages.NetworkAgent):
            action, analysis = self._run_network(game, state, agent)
        elif isinstance(agent, messages.AlphaBetaAgent):
            action, analysis = self._run_alpha_beta(query, agent)
        elif isinstance(agent, messages.PerfectAgent):
            action, analysis = self._run_perfect(query)
        else:
            action = int(np.random.default_rng(seed).choice(game.legal(state)))
            analysis = make_analysis(game, state, best=action)
        return messages.SearchAnswer(
            action=int(action),
            name=game.action_name(int(action)),
            seconds=time.perf_counter() - start,
            analysis=analysis,
        )

    def search(
        self,
        game: Game,
        state: Any,
        agent: messages.SearchAgent,
        seed: int,
        slot: Slot,
        on_progress: OnProgress | None = None,
        is_traced: bool = False,
    ) -> tuple[SearchResult, int | None]:
        """The result of a search, and the step of the weights used."""
        _require_choice(state)
        if agent.book and not has_book(game):
            raise ValueError(f"there is no opening book for {game.name}")
        evaluator, base, step = self._evaluator(game, agent)
        config = self._config(base, agent, is_traced)
        searcher = Searcher(game, evaluator, config, threads=1)
        shortest = Searcher(game, evaluator, SearchConfig(simulations=1), threads=1)
        self._compile_thread.ensure(
            (game.tag, agent.evaluator), lambda: shortest.search(state), slot
        )
        start = last = time.perf_counter()

        def report(done: int, total: int) -> None:
            nonlocal last
            slot.yield_to_others()
            now = time.perf_counter()
            if (
                on_progress is not None
                and now - last >= _PROGRESS_SECONDS
                and not slot.stop.is_set()
            ):
                last = now
                on_progress(analyse(searcher.peek()[0], step), now - start)

        result: SearchResult = searcher.search(state, seed, progress=report, stop=slot.stop)
        return result, step

    def outcomes(self, game: Game, state: Any, seconds: float, slot: Slot) -> messages.Outcomes:
        """The result of every move under perfect play, if found in time."""
        _require_choice(state)
        query = Query(game, state, 0, slot)
        self._compile_solver(query)
        try:
            found = find_outcomes(query, min(seconds, self._options.limits.seconds))
        except Stopped:
            return messages.Outcomes(is_solved=False, moves=[])
        moves = [
            messages.MoveOutcome(action=move.action, name=move.name, outcome=found[move.action])
            for move in legal_moves(game, state)
        ]
        return messages.Outcomes(is_solved=True, moves=moves)

    def _evaluator(
        self, game: Game, agent: messages.SearchAgent
    ) -> tuple[Any, SearchConfig, int | None]:
        """The evaluator, its recommended search options, and the step of its weights."""
        if agent.evaluator != "network":
            if agent.run is not None:
                raise ValueError(f"the evaluator {agent.evaluator} takes no run")
            if agent.evaluator == "threats":
                return ThreatsEvaluator(game), make_config(1), None
            if agent.evaluator == "bundled":
                return *self._networks.bundled(game), None
            return agent.evaluator, SearchConfig(), None
        if agent.run is None:
            raise ValueError("the evaluator network needs a run")
        self._check_game(game, agent.run)
        evaluator, step = self._networks.evaluator(agent.run, agent.step)
        return evaluator, self._networks.saved(agent.run).search_config(1), step

    def _config(
        self, base: SearchConfig, agent: messages.SearchAgent, is_traced: bool
    ) -> SearchConfig:
        limits = self._options.limits
        if not (agent.simulations or agent.seconds):
            raise ValueError("the search has no budget: set simulations or seconds")
        if agent.simulations > limits.simulations or agent.seconds > limits.seconds:
            raise ValueError(
                f"{agent.simulations:,} simulations and {agent.seconds:g} seconds exceed the "
                f"limits of {limits.simulations:,} and {limits.seconds:g}"
            )
        options: dict[str, Any] = dict(agent.options)  # SearchConfig checks their kinds
        for name, value in options.items():
            if name in _SERVER_OPTIONS or name not in option_kinds():
                known = ", ".join(other for other in option_kinds() if other not in _SERVER_OPTIONS)
                raise ValueError(f"unknown option {name!r}; available: {known}")
            if name in _OPTION_LIMITS and isinstance(value, int) and value > _OPTION_LIMITS[name]:
                raise ValueError(f"{name} is {value}; the limit is {_OPTION_LIMITS[name]}")
        budget = {
            "simulations": self._limit_simulations(agent, is_traced),
            "seconds": agent.seconds or limits.seconds,
            "max_bytes": self._options.search_bytes,
            "trace": is_traced,
        }
        config = with_options(base, options | budget)
        if config.leaves * config.rollouts > _MAX_ROLLOUTS_PER_ROUND:
            raise ValueError(
                f"leaves × rollouts is {config.leaves * config.rollouts}; "
                f"the limit is {_MAX_ROLLOUTS_PER_ROUND}"
            )
        return config

    def _limit_simulations(self, agent: messages.SearchAgent, is_traced: bool) -> int:
        """The limit of simulations; a trace always has one, because it records each of them."""
        if not is_traced:
            return agent.simulations
        return min(agent.simulations or self._options.limits.nodes, self._options.limits.nodes)

    def _run_network(
        self, game: Game, state: Any, agent: messages.NetworkAgent
    ) -> tuple[int, messages.Analysis]:
        self._check_game(game, agent.run)
        evaluator, step = self._networks.evaluator(agent.run, agent.step)
        logits, values = evaluate_states(game, evaluator, [state])
        legal = sorted(game.legal(state))
        weights = np.exp(logits[0, legal] - logits[0, legal].max())
        priors = dict(zip(legal, (weights / weights.sum()).tolist(), strict=True))
        best = max(legal, key=lambda action: (priors[action], -action))
        analysis = make_analysis(
            game, state, best, priors=priors, value=float(values[0, 0]), step=step
        )
        return best, analysis

    def _run_alpha_beta(
        self, query: Query, agent: messages.AlphaBetaAgent
    ) -> tuple[int, messages.Analysis]:
        limits = self._options.limits
        if agent.depth > limits.depth or agent.seconds > limits.seconds:
            raise ValueError(
                f"depth {agent.depth} and {agent.seconds:g} seconds exceed the limits of "
                f"{limits.depth} and {limits.seconds:g}"
            )
        game, state = query.game, query.state
        shallow = AlphaBeta(game, depth=1, table_bytes=0)
        self._compile_thread.ensure(
            (game.tag, "alphabeta"), lambda: shallow.analyse(state), query.slot
        )
        return run_alpha_beta(query, agent.depth, agent.seconds or limits.seconds)

    def _run_perfect(self, query: Query) -> tuple[int, messages.Analysis]:
        if not has_perfect(query.game):
            raise ValueError(f"there is no solver for {query.game.name}")
        self._compile_solver(query)
        return run_perfect(query, self._options.limits.seconds)

    def _compile_solver(self, query: Query) -> None:
        game, state = query.game, query.state
        self._compile_thread.ensure(
            (game.tag, "perfect"), lambda: compile_solver(game, state), query.slot
        )

    def _check_game(self, game: Game, run: str) -> None:
        own = self._networks.saved(run).game
        if own != game:
            raise ValueError(f"{run} is a run of {own.name}, not of {game.name}")


def _use_book(
    agent: messages.SearchAgent, result: SearchResult, analysis: messages.Analysis, seed: int
) -> tuple[int, messages.Analysis]:
    """The move to play, by the opening book if the search's is worse, and the analysis."""
    game, state = result.game, result.roots.states[result.row, ROOT]
    chosen = result.action
    if agent.book is False or (agent.book is None and agent.evaluator != "bundled"):
        return chosen, analysis
    action = correct_move(game, state, chosen, seed)
    if action == chosen:
        return chosen, analysis
    return action, analysis.model_copy(update={"book": name_move(game, state, action)})


def _require_choice(state: Any) -> None:
    if state.is_over:
        raise ValueError("the game is over")
    if state.to_play < 0:
        raise ValueError("chance is to move; play its move first")
