"""Accuracy on positions with known outcomes.

A move is an error if it gives away game value: a win for a draw or a loss, or a draw for a loss.
The network alone plays its largest logit; a search plays the move it would play in a match.
"""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plainzero.arena.elo import wilson_interval
from plainzero.games.contract import Game
from plainzero.opponents.search_agent import best_legal, child_seed, evaluate_states, side_by_side
from plainzero.opponents.solved_positions import PositionSet
from plainzero.search.api import Searcher
from plainzero.search.config import SearchConfig
from plainzero.search.evaluators import Evaluator, device_of

AccuracyProgress = Callable[[int, int], None]
"""Called with the positions done and to do."""

_BATCH = 512  # positions between calls of progress
_RESAMPLES = 1000
_STAGE_ENDS = {"connect-four": (13, 25)}  # last ply of opening and middle; else thirds of max_turns
STAGES = ("opening", "middle", "end")


class Measure(NamedTuple):
    """A mean with its 95 % interval; None without data, and for the interval of one number."""

    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Measures:
    """Measurements on some positions."""

    positions: int
    error_rate: Measure  # share of positions in which the chosen move gives away game value
    cross_entropy: Measure  # −ln Σ probability of the moves that keep the game value
    value_sign: Measure  # share of won and lost positions with the right sign of the value
    draw_value: Measure  # mean |value| of drawn positions
    best_move: Measure  # share of positions in which the chosen move has the best score, if known


@dataclass(frozen=True)
class Accuracy:
    """Measurements on all positions, and by stage of the game."""

    simulations: int  # 0: the network alone
    total: Measures
    by_stage: dict[str, Measures]
    was_interrupted: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As plain numbers."""
        return {
            "simulations": self.simulations,
            **_as_dict(self.total),
            "by_stage": {stage: _as_dict(measures) for stage, measures in self.by_stage.items()},
            "was_interrupted": self.was_interrupted,
        }


def evaluate_positions(
    game: Game,
    evaluator: Evaluator,
    positions: PositionSet,
    config: SearchConfig | None = None,
    seed: int = 0,
    progress: AccuracyProgress | None = None,
) -> Accuracy:
    """Measures the network alone, or a search with it.

    Args:
        game: the game.
        evaluator: for the network alone, a function from observations to logits and values.
        positions: with the outcome of each move.
        config: search options; None: the network alone.
        seed: of the search and the resampling.
        progress: called after each batch; StopIteration ends the measurement early.
    """
    parts: list[_Answers] = []
    done, was_interrupted = 0, False
    if config is None:
        batches = _network_batches(game, evaluator, positions)
    else:
        batches = _search_batches(game, evaluator, positions, config, seed)
    for part in batches:
        parts.append(part)
        done += len(part.chosen)
        try:
            if progress is not None:
                progress(done, len(positions.states))
        except StopIteration:
            was_interrupted = done < len(positions.states)
            break
    answers = _Answers(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    seen = positions.rows(slice(done))
    stages = _stages(game, seen.plies)
    generator = np.random.default_rng(seed)
    return Accuracy(
        config.simulations if config is not None else 0,
        _measure(answers, seen, np.ones(done, bool), generator),
        {
            stage: _measure(answers, seen, stages == number, generator)
            for number, stage in enumerate(STAGES)
        },
        was_interrupted,
    )


def sample_positions(positions: PositionSet, count: int, seed: int = 0) -> PositionSet:
    """A random sample of `count` positions, fixed by the seed; all if there are fewer."""
    total = len(positions.states)
    if count >= total:
        return positions
    rows = np.sort(np.random.default_rng(seed).permutation(total)[:count])
    return positions.rows(rows)


def shuffle_positions(positions: PositionSet, seed: int = 0) -> PositionSet:
    """The positions in random order, so that every prefix is a fair sample."""
    return positions.rows(np.random.default_rng(seed).permutation(len(positions.states)))


class _Answers(NamedTuple):
    """The moves, policies and values for n positions."""

    chosen: NDArray[np.int64]  # [n]
    policy: NDArray[np.float64]  # [n, A], legal moves sum to 1
    values: NDArray[np.float64]  # [n] for the mover


def _network_batches(game: Game, evaluator: Any, positions: PositionSet) -> Iterator[_Answers]:
    for first in range(0, len(positions.states), _BATCH):
        states = list(positions.states[first : first + _BATCH])
        logits, values = evaluate_states(game, evaluator, states)
        legal = _is_legal(positions.outcomes[first : first + _BATCH])
        chosen = best_legal(game, states, logits)
        yield _Answers(np.array(chosen), _softmax(logits, legal), values[:, 0].astype(float))


def _search_batches(
    game: Game, evaluator: Evaluator, positions: PositionSet, config: SearchConfig, seed: int
) -> Iterator[_Answers]:
    device = device_of(evaluator) if game.runs_on_gpu else "cpu"
    searcher = Searcher(game, evaluator, config, device=device)
    step = min(_BATCH, side_by_side(searcher))
    for first in range(0, len(positions.states), step):
        states = list(positions.states[first : first + step])
        results = searcher.search(states, child_seed(seed, first))
        # Adds one simulation distributed by the prior, so that no probability is exactly 0.
        policy = np.array([r.policy() * r.visits.sum() + r.prior for r in results])
        policy /= policy.sum(axis=1, keepdims=True)
        yield _Answers(
            np.array([result.action for result in results]),
            policy,
            np.array([result.value for result in results]),
        )


def _softmax(logits: NDArray[np.float32], legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    masked = np.where(legal, logits.astype(float), -np.inf)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    policy: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return policy


def _is_legal(outcomes: NDArray[np.int8]) -> NDArray[np.bool_]:
    legal: NDArray[np.bool_] = outcomes >= -1
    return legal


def _stages(game: Game, plies: NDArray[np.int32]) -> NDArray[np.int64]:
    """[n] 0, 1 or 2: opening, middle or end."""
    thirds = (game.max_turns // 3 - 1, 2 * game.max_turns // 3 - 1)
    return np.searchsorted(np.array(_STAGE_ENDS.get(game.name, thirds)), plies, side="left")


def _measure(
    answers: _Answers,
    positions: PositionSet,
    chosen: NDArray[np.bool_],
    generator: np.random.Generator,
) -> Measures:
    """The measures on the positions that are `chosen` [n]."""
    positions = positions.rows(chosen)
    outcomes = positions.outcomes
    moves, policy, values = (column[chosen] for column in answers)
    best = np.where(_is_legal(outcomes), outcomes, -2).max(axis=1, initial=-2)
    errors = outcomes[np.arange(len(moves)), moves] < best
    optimal = np.where(outcomes == best[:, None], policy, 0.0).sum(axis=1)
    entropy = -np.log(np.clip(optimal, 1e-12, 1.0))
    is_decided = best != 0
    has_right_sign = (np.sign(values) == best)[is_decided]
    return Measures(
        len(moves),
        _share(errors),
        _mean(entropy, generator),
        _share(has_right_sign),
        _mean(np.abs(values[~is_decided]), generator),
        _share(_is_best(answers.chosen[chosen], positions)),
    )


def _is_best(moves: NDArray[np.int64], positions: PositionSet) -> NDArray[np.bool_]:
    """[n] whether each move has the best score; empty if scores are unknown."""
    if positions.scores is None:
        return np.zeros(0, bool)
    scores = np.where(_is_legal(positions.outcomes), positions.scores, np.iinfo(np.int16).min)
    best: NDArray[np.bool_] = scores[np.arange(len(moves)), moves] == scores.max(axis=1)
    return best


def _share(hits: NDArray[np.bool_]) -> Measure:
    """A share with its bootstrap interval; Wilson's at 0 and 1, where resampling gives none.

    Resampling n binary answers means drawing from a binomial distribution; its 2.5 % and 97.5 %
    points are computed with a fixed seed.
    """
    count = len(hits)
    if count == 0:
        return Measure(None, None, None)
    share = float(hits.mean())
    if share in (0.0, 1.0):
        return Measure(share, *wilson_interval(share, count))
    resampled = np.random.default_rng(0).binomial(count, share, 10 * _RESAMPLES) / count
    low, high = np.quantile(resampled, (0.025, 0.975))
    return Measure(share, float(low), float(high))


def _mean(numbers: NDArray[np.float64], generator: np.random.Generator) -> Measure:
    """A mean with its bootstrap interval, which takes two numbers or more."""
    count = len(numbers)
    if count < 2:
        return Measure(float(numbers[0]) if count else None, None, None)
    resampled = np.array(
        [numbers[generator.integers(0, count, count)].mean() for _ in range(_RESAMPLES)]
    )
    low, high = np.quantile(resampled, (0.025, 0.975))
    return Measure(float(numbers.mean()), float(low), float(high))


def _as_dict(measures: Measures) -> dict[str, Any]:
    named: dict[str, Any] = {"positions": measures.positions}
    for field in dataclasses.fields(measures)[1:]:
        measure: Measure = getattr(measures, field.name)
        named[field.name] = measure.mean
        named[f"{field.name}_interval"] = None if measure.low is None else [*measure[1:]]
    return named
