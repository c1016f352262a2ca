"""Players as requests name them: each thinks about a position, chooses a move, and says why."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tesuji.arena.agents import evaluate_states
from tesuji.games.contract import Game
from tesuji.opponents.alpha_beta import AlphaBeta
from tesuji.opponents.perfect import has_perfect, move_outcomes
from tesuji.opponents.protocol import Stopped
from tesuji.search.api import Searcher
from tesuji.search.config import SearchConfig, option_kinds
from tesuji.search.result import SearchResult
from tesuji.server.analysis import analyse
from tesuji.server.messages import searching as messages
from tesuji.server.options import ServerOptions
from tesuji.server.positions import legal_moves, name_move
from tesuji.server.turns import Turn
from tesuji.server.weights import Weights

OnProgress = Callable[[messages.Analysis, float], None]
"""Called from the search's thread with what it thinks so far, and the seconds it took."""

_PAUSE = 0.1  # seconds between two reports of progress
_OURS = ("simulations", "visits", "nodes", "seconds", "max_bytes", "trace")
_AT_MOST = {"rollouts": 100, "leaves": 256}  # so that a search sees soon that it is to stop


class Players:
    """Makes moves for any player of the wire's kinds.

    Args:
        options: limits, and the memory of a search.
        weights: the networks of the runs.
    """

    def __init__(self, options: ServerOptions, weights: Weights) -> None:  # noqa: D107
        self._options, self._weights = options, weights

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
            Stopped: when a solver was cancelled.
        """
        _require_choice(game, state)
        start = time.perf_counter()
        if isinstance(player, messages.SearchPlayer):
            result, step = self.search(game, state, player, seed, turn, on_progress)
            action, analysis = result.action, analyse(result, step)
        elif isinstance(player, messages.NetworkPlayer):
            action, analysis = self._ask_network(game, state, player)
        elif isinstance(player, messages.AlphaBetaPlayer):
            action, analysis = self._ask_alpha_beta(game, state, player, seed, turn)
        elif isinstance(player, messages.PerfectPlayer):
            action, analysis = self._ask_perfect(game, state, seed, turn)
        else:
            action = int(np.random.default_rng(seed).choice(game.legal(state)))
            analysis = _make_analysis(game, state, best=action)
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
        _require_choice(game, state)
        evaluator, base, step = self._evaluator(game, player)
        config = self._config(base, player, is_traced)
        searcher = Searcher(game, evaluator, config, threads=1)
        start = last = time.perf_counter()

        def report(done: int, total: int) -> None:
            nonlocal last
            turn.give_way()
            now = time.perf_counter()
            if on_progress is not None and now - last >= _PAUSE:
                last = now
                on_progress(analyse(searcher.peek()[0], step), now - start)

        result: SearchResult = searcher.search(state, seed, progress=report, stop=turn.stop)
        return result, step

    def outcomes(self, game: Game, state: Any, seconds: float, turn: Turn) -> messages.Outcomes:
        """The truth about every move, if it is found in time."""
        _require_choice(game, state)
        deadline = time.monotonic() + min(seconds, self._options.limits.seconds)

        def is_over() -> bool:
            turn.give_way()
            return turn.stop.is_set() or time.monotonic() > deadline

        try:
            found = move_outcomes(game, [state], stop=is_over)[0]
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
        return dataclasses.replace(
            base,
            **options,
            simulations=self._most_simulations(player, is_traced),
            seconds=player.seconds or limits.seconds,
            max_bytes=self._options.search_bytes,
            trace=is_traced,
        )

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
        analysis = _make_analysis(
            game, state, best, priors=priors, value=float(values[0, 0]), step=step
        )
        return best, analysis

    def _ask_alpha_beta(
        self,
        game: Game,
        state: Any,
        player: messages.AlphaBetaPlayer,
        seed: int,
        turn: Turn,
    ) -> tuple[int, messages.Analysis]:
        limits = self._options.limits
        if player.depth > limits.depth or player.seconds > limits.seconds:
            raise ValueError(
                f"depth {player.depth} and {player.seconds:g} seconds were asked for; "
                f"{limits.depth} and {limits.seconds:g} are the most here"
            )
        solver = AlphaBeta(game, player.depth, player.seconds or limits.seconds)
        found = solver.analyse(state, stop=_asking(turn))
        best = int(np.nanargmax(found.values))
        values = {action: float(found.values[action]) for action in game.legal(state)}
        return best, _make_analysis(
            game, state, best, q=values, value=values[best], is_proven=found.is_exact
        )

    def _ask_perfect(
        self, game: Game, state: Any, seed: int, turn: Turn
    ) -> tuple[int, messages.Analysis]:
        if not has_perfect(game):
            raise ValueError(f"perfect play of {game.name} is not known")
        found = move_outcomes(game, [state], stop=_asking(turn))[0]
        exact = {action: float(found[action]) for action in game.legal(state)}
        best_of = [action for action, value in exact.items() if value == max(exact.values())]
        best = int(np.random.default_rng(seed).choice(best_of))
        analysis = _make_analysis(
            game, state, best, q=exact, value=exact[best], is_proven=True, exact=exact
        )
        return best, analysis

    def _check_game(self, game: Game, run: str) -> None:
        own = self._weights.saved(run).game
        if own != game:
            raise ValueError(f"{run} is a run of {own.name}, not of {game.name}")


def _asking(turn: Turn) -> Callable[[], bool]:
    """What a solver asks between two pieces of work."""

    def is_stopped() -> bool:
        turn.give_way()
        return turn.stop.is_set()

    return is_stopped


def _require_choice(game: Game, state: Any) -> None:
    if state.is_over:
        raise ValueError("the game is over, so there is nothing to think about")
    if state.to_play < 0:
        raise ValueError("chance is to play; make its move first")


def _make_analysis(
    game: Game,
    state: Any,
    best: int,
    *,
    priors: dict[int, float] | None = None,
    q: dict[int, float] | None = None,
    exact: dict[int, float] | None = None,
    value: float | None = None,
    is_proven: bool = False,
    step: int | None = None,
) -> messages.Analysis:
    """What a player without a search tree has to say."""
    return messages.Analysis(
        to_play=int(state.to_play),
        value=value,
        values=[],
        simulations=0,
        nodes=0,
        is_proven=is_proven,
        best=best,
        moves=[
            messages.MoveOpinion(
                action=move.action,
                name=move.name,
                prior=(priors or {}).get(move.action),
                visits=None,
                share=None,
                q=(q or {}).get(move.action),
                u=None,
                exact=(exact or {}).get(move.action),
            )
            for move in legal_moves(game, state)
        ],
        variation=[name_move(game, state, best)],
        step=step,
    )
