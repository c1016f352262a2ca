"""Players as requests name them: each thinks about a position, chooses a move, and says why."""

import time
from typing import Any

import numpy as np

from plainzero.games.contract import Game
from plainzero.opponents.agent import Stopped
from plainzero.opponents.alpha_beta import AlphaBeta
from plainzero.opponents.gomoku_evaluator_kernels import ThreatsEvaluator, make_config
from plainzero.opponents.perfect import compile_solver, has_perfect
from plainzero.opponents.search_agent import evaluate_states
from plainzero.search.api import Searcher
from plainzero.search.config import SearchConfig, lay_over, option_kinds
from plainzero.search.result import SearchResult
from plainzero.server.api.schemas import searching as messages
from plainzero.server.options import ServerOptions
from plainzero.server.position_views import legal_moves
from plainzero.server.runs.loaded_networks import Weights
from plainzero.server.searching.analysis import analyse
from plainzero.server.searching.precompile import CompilingAhead
from plainzero.server.searching.scheduler import Turn
from plainzero.server.searching.solver_agents import (
    OnProgress,
    Question,
    ask_alpha_beta,
    ask_perfect,
    find_outcomes,
    make_analysis,
)

_PAUSE = 0.1  # seconds between two reports of progress
_OURS = ("simulations", "visits", "nodes", "seconds", "max_bytes", "trace")
_AT_MOST = {"rollouts": 100, "leaves": 256}
_MOST_ROLLOUTS_A_ROUND = 256  # so that a search soon gives way, and sees that it is to stop


class Players:
    """Makes moves for any player of the wire's kinds.

    Args:
        options: limits, and the memory of a search.
        weights: the networks of the runs.
    """

    def __init__(self, options: ServerOptions, weights: Weights) -> None:  # noqa: D107
        self._options, self._weights = options, weights
        self._compiling = CompilingAhead()

    def close(self) -> None:
        """Compiles nothing more."""
        self._compiling.close()

    def answer(
        self,
        game: Game,
        state: Any,
        player: messages.Player,
        seed: int,
        turn: Turn,
        on_progress: OnProgress | None = None,
    ) -> messages.SearchAnswer:
        """The move that the player chooses.

        Raises:
            ValueError: when the game is over, or the player cannot be had.
            Stopped: when it was stopped before there was anything to say.
        """
        _require_choice(state)
        question = Question(game, state, seed, turn, on_progress)
        start = time.perf_counter()
        if isinstance(player, messages.SearchPlayer):
            result, step = self.search(game, state, player, seed, turn, on_progress)
            action, analysis = result.action, analyse(result, step)
        elif isinstance(player, messages.NetworkPlayer):
            action, analysis = self._ask_network(game, state, player)
        elif isinstance(player, messages.AlphaBetaPlayer):
            action, analysis = self._ask_alpha_beta(question, player)
        elif isinstance(player, messages.PerfectPlayer):
            action, analysis = self._ask_perfect(question)
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
        player: messages.SearchPlayer,
        seed: int,
        turn: Turn,
        on_progress: OnProgress | None = None,
        is_traced: bool = False,
    ) -> tuple[SearchResult, int | None]:
        """A search's result, and the step of the weights it used."""
        _require_choice(state)
        evaluator, base, step = self._evaluator(game, player)
        config = self._config(base, player, is_traced)
        searcher = Searcher(game, evaluator, config, threads=1)
        shortest = Searcher(game, evaluator, SearchConfig(simulations=1), threads=1)
        self._compiling.finish((game.tag, player.evaluator), lambda: shortest.search(state), turn)
        start = last = time.perf_counter()

        def report(done: int, total: int) -> None:
            nonlocal last
            turn.give_way()
            now = time.perf_counter()
            if on_progress is not None and now - last >= _PAUSE and not turn.stop.is_set():
                last = now
                on_progress(analyse(searcher.peek()[0], step), now - start)

        result: SearchResult = searcher.search(state, seed, progress=report, stop=turn.stop)
        return result, step

    def outcomes(self, game: Game, state: Any, seconds: float, turn: Turn) -> messages.Outcomes:
        """The truth about every move, if it is found in time."""
        _require_choice(state)
        question = Question(game, state, 0, turn)
        self._compile_solver(question)
        try:
            found = find_outcomes(question, min(seconds, self._options.limits.seconds))
        except Stopped:
            return messages.Outcomes(is_solved=False, moves=[])
        moves = [
            messages.MoveOutcome(action=move.action, name=move.name, outcome=found[move.action])
            for move in legal_moves(game, state)
        ]
        return messages.Outcomes(is_solved=True, moves=moves)

    def _evaluator(
        self, game: Game, player: messages.SearchPlayer
    ) -> tuple[Any, SearchConfig, int | None]:
        """The evaluator, the options it is meant to be used with, and the step of its weights."""
        if player.evaluator != "network":
            if player.run is not None:
                raise ValueError(f"a run is given, but the evaluator is {player.evaluator}")
            if player.evaluator == "threats":
                return ThreatsEvaluator(game), make_config(1), None
            if player.evaluator == "shipped":
                return *self._weights.shipped(game), None
            return player.evaluator, SearchConfig(), None
        if player.run is None:
            raise ValueError("the evaluator is a network, but no run is given")
        self._check_game(game, player.run)
        evaluator, step = self._weights.evaluator(player.run, player.step)
        return evaluator, self._weights.saved(player.run).search_config(1), step

    def _config(
        self, base: SearchConfig, player: messages.SearchPlayer, is_traced: bool
    ) -> SearchConfig:
        limits = self._options.limits
        if not (player.simulations or player.seconds):
            raise ValueError("the search has no budget: give simulations or seconds")
        if player.simulations > limits.simulations or player.seconds > limits.seconds:
            raise ValueError(
                f"{player.simulations:,} simulations and {player.seconds:g} seconds were asked "
                f"for; {limits.simulations:,} and {limits.seconds:g} are the most here"
            )
        options: dict[str, Any] = dict(player.options)  # SearchConfig checks their kinds
        for name, value in options.items():
            if name in _OURS or name not in option_kinds():
                known = ", ".join(other for other in option_kinds() if other not in _OURS)
                raise ValueError(f"there is no option {name!r}; options: {known}")
            if name in _AT_MOST and isinstance(value, int) and value > _AT_MOST[name]:
                raise ValueError(f"{name} is {value}; it can be {_AT_MOST[name]} at most here")
        budget = {
            "simulations": self._most_simulations(player, is_traced),
            "seconds": player.seconds or limits.seconds,
            "max_bytes": self._options.search_bytes,
            "trace": is_traced,
        }
        config = lay_over(base, options | budget)
        if config.leaves * config.rollouts > _MOST_ROLLOUTS_A_ROUND:
            raise ValueError(
                f"leaves × rollouts is {config.leaves * config.rollouts}; "
                f"it can be {_MOST_ROLLOUTS_A_ROUND} at most here"
            )
        return config

    def _most_simulations(self, player: messages.SearchPlayer, is_traced: bool) -> int:
        """What was asked for; a trace keeps every simulation, so it has a limit of its own."""
        if not is_traced:
            return player.simulations
        return min(player.simulations or self._options.limits.nodes, self._options.limits.nodes)

    def _ask_network(
        self, game: Game, state: Any, player: messages.NetworkPlayer
    ) -> tuple[int, messages.Analysis]:
        self._check_game(game, player.run)
        evaluator, step = self._weights.evaluator(player.run, player.step)
        logits, values = evaluate_states(game, evaluator, [state])
        legal = sorted(game.legal(state))
        weights = np.exp(logits[0, legal] - logits[0, legal].max())
        priors = dict(zip(legal, (weights / weights.sum()).tolist(), strict=True))
        best = max(legal, key=lambda action: (priors[action], -action))
        analysis = make_analysis(
            game, state, best, priors=priors, value=float(values[0, 0]), step=step
        )
        return best, analysis

    def _ask_alpha_beta(
        self, question: Question, player: messages.AlphaBetaPlayer
    ) -> tuple[int, messages.Analysis]:
        limits = self._options.limits
        if player.depth > limits.depth or player.seconds > limits.seconds:
            raise ValueError(
                f"depth {player.depth} and {player.seconds:g} seconds were asked for; "
                f"{limits.depth} and {limits.seconds:g} are the most here"
            )
        game, state = question.game, question.state
        shallow = AlphaBeta(game, depth=1, table_bytes=0)
        self._compiling.finish(
            (game.tag, "alphabeta"), lambda: shallow.analyse(state), question.turn
        )
        return ask_alpha_beta(question, player.depth, player.seconds or limits.seconds)

    def _ask_perfect(self, question: Question) -> tuple[int, messages.Analysis]:
        if not has_perfect(question.game):
            raise ValueError(f"perfect play of {question.game.name} is not known")
        self._compile_solver(question)
        return ask_perfect(question, self._options.limits.seconds)

    def _compile_solver(self, question: Question) -> None:
        game, state = question.game, question.state
        self._compiling.finish(
            (game.tag, "perfect"), lambda: compile_solver(game, state), question.turn
        )

    def _check_game(self, game: Game, run: str) -> None:
        own = self._weights.saved(run).game
        if own != game:
            raise ValueError(f"{run} is a run of {own.name}, not of {game.name}")


def _require_choice(state: Any) -> None:
    if state.is_over:
        raise ValueError("the game is over, so there is nothing to think about")
    if state.to_play < 0:
        raise ValueError("chance is to play; make its move first")
