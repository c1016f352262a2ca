"""Checks of learning: losses, values, policies, data, strength."""

import itertools
import math
import statistics
from collections.abc import Iterator

from plainzero.training.doctor.history import Finding, History, last_third, mean, middle_third

EXPLODED_LOSS = 2.0
"""Times the policy loss of a uniform policy, ln(actions), which a new network has."""

EXPLODED_NORM = 30.0
"""Times the median gradient norm of earlier generations; learning multiplies it by less."""

LEAST_EXPLAINED = 0.05
"""Share of the variance of z; a constant explains 0."""

LEAST_SPREAD = 0.02
"""Standard deviation of v; bf16 rounds by as much, so all positions look alike."""

PINNED = 0.95
"""Mean |v| of a two-player game, in which the mover wins half of the time: the flat end of tanh."""

LEAST_KL_LEFT = 0.85
"""Share of the first generation's KL to the search, when the network is nearly uniform. The KL of a
network that never changes drifts by a tenth, as the positions do."""

LEAST_AGREEMENT_GAINED = 0.05
"""A share of a few hundred positions has an error of about 0.03, of thousands 0.01."""

OLD_SHARE = 0.45
"""Mean age of the data, as a share of the run's generations; 0.5 if everything is kept."""

OLD_GENERATIONS = 15
"""Younger data comes from weights close to the present ones."""

MOST_REUSE = 8.0
"""Average uses of a position; a few are usual, and this leaves room for experiments."""

USED_UP = 0.8
"""Share of max_uses. Positions that reach it are skipped, so learning gets less and older data."""

ACCURACY_LOST = 0.03
"""Three standard errors of the share of 2,000 positions."""

ACCURACY_GAINED = 0.005
"""Over a third of the run; a run that still learns gains several times as much."""

NEARLY_PERFECT = 0.97
"""Share of solved positions beyond which no progress is no problem."""

RATING_GAINED = 25.0
"""Elo over a third of the run."""

RATE_SPENT = 1.5
"""Times the lowest learning rate: little is learned below."""

LONG_SPENT = 0.25
"""Share of generations at that rate; cosine spends a fifteenth of a run there, step a fifth."""


def check_learning(history: History) -> Iterator[Finding]:
    """Problems of learning."""
    yield from _not_finite(history)
    yield from _exploded(history)
    yield from _reused_too_often(history)
    if not history.is_early:
        yield from _value_collapse(history)
        yield from _policy_not_learning(history)
        yield from _data_too_old(history)
        yield from _strength(history)
        yield from _rate_spent(history)


def _not_finite(history: History) -> Iterator[Finding]:
    names = ("loss", "policy_loss", "value_loss", "gradient_norm")
    for line in history.lines:
        broken = [n for n in names if isinstance(line.get(n), float) and not math.isfinite(line[n])]
        if broken:
            rate = history.config.training.learning_rate
            yield Finding(
                "loss not finite",
                "problem",
                f"{broken[0]} is {line[broken[0]]} in generation {line.get('generation')}.",
                f"Set training.learning_rate={rate / 4:g} (it is {rate:g}) and start a new run; "
                "the weights after that generation are useless.",
            )
            return


def _exploded(history: History) -> Iterator[Finding]:
    """Reports the first generation whose loss or gradients are far beyond the usual."""
    uniform, norms = math.log(max(2, history.game.num_actions)), list[float]()
    for line in history.lines:
        loss, norm = line.get("policy_loss", 0.0), line.get("gradient_norm", 0.0)
        usual = statistics.median(norms) if norms else math.inf
        if loss > EXPLODED_LOSS * uniform:
            seen = f"the policy loss is {loss:.3g}; a uniform policy has {uniform:.2f}"
        elif norm > EXPLODED_NORM * usual:
            seen = f"the gradient norm is {norm:.3g}; it was {usual:.2g} before"
        else:
            norms.append(norm)
            continue
        training, latest = history.config.training, history.last("policy_loss") or 0.0
        has_recovered = line is not history.lines[-1] and latest < uniform
        yield Finding(
            "exploded gradients",
            "warning" if has_recovered else "problem",
            f"In generation {line.get('generation')} {seen}.",
            f"{'The run has recovered; in' if has_recovered else 'In'} a new run, set "
            f"training.learning_rate={training.learning_rate / 4:g} (it is "
            f"{training.learning_rate:g}) or more training.warmup_steps (they are "
            f"{training.warmup_steps}).",
        )
        return


def _value_collapse(history: History) -> Iterator[Finding]:
    training = history.config.training
    advice = (
        f"Set a smaller training.learning_rate (it is {training.learning_rate:g}), and a smaller "
        f"training.value_mix (it is {training.value_mix:g}), so that values follow outcomes."
    )
    if training.value_weight == 0:
        advice = "Set training.value_weight=1; at 0 the value is not trained."
    explained, spread = history.recent("value_explained"), history.recent("value_spread")
    pinned = history.recent("value_mean") if history.game.num_players == 2 else None
    if pinned is not None and abs(pinned) > PINNED:
        seen = f"v is {pinned:+.2f} on average, though each side wins half of the time."
    elif spread is not None and explained is not None and spread < LEAST_SPREAD:
        seen = f"v is nearly the same everywhere: its spread is {spread:.3f}."
    elif explained is not None and explained < LEAST_EXPLAINED:
        seen = f"v explains {explained:.0%} of the variance of the results; their mean alone, 0 %."
    else:
        return
    yield Finding("value collapse", "problem", seen, advice)


def _policy_not_learning(history: History) -> Iterator[Finding]:
    first, recent = history.first("policy_kl"), history.recent("policy_kl")
    agreed, agrees = history.first("search_agreement"), history.recent("search_agreement")
    if first is None or recent is None or agreed is None or agrees is None:
        return
    if recent > LEAST_KL_LEFT * first and agrees < agreed + LEAST_AGREEMENT_GAINED:
        training = history.config.training
        yield Finding(
            "policy not learning",
            "problem",
            f"The KL from the network's policy to the search's went from {first:.2f} to "
            f"{recent:.2f}, and their first choices agree in {agrees:.0%} of the positions "
            f"({agreed:.0%} at first).",
            f"Set another training.learning_rate (it is {training.learning_rate:g}), more "
            f"training.reuse (it is {training.reuse:g}), or a larger network; look at "
            "the game's observe, which may not show what matters.",
        )


def _data_too_old(history: History) -> Iterator[Finding]:
    age, total = history.last("replay_age"), history.last("total_positions")
    if age is None or total is None:
        return
    if age > OLD_GENERATIONS and age > OLD_SHARE * history.generations:
        start = history.config.training.window_start
        yield Finding(
            "data too old",
            "warning",
            f"The data is {age:.0f} generations old on average, in a run of {history.generations}.",
            f"Set training.window_start={max(1, int(total) // 10):d} (it is {start}), or a "
            "smaller training.window_share.",
        )


def _reused_too_often(history: History) -> Iterator[Finding]:
    training, uses = history.config.training, history.recent("replay_uses")
    if training.reuse > MOST_REUSE:
        yield Finding(
            "data reused too often",
            "warning",
            f"training.reuse is {training.reuse:g}: each position is used that often.",
            "Set training.reuse=4; a network that sees the same positions again and again "
            "memorises them.",
        )
    elif uses is not None and uses > USED_UP * training.max_uses:
        yield Finding(
            "data reused too often",
            "warning",
            f"Positions in the window were used {uses:.1f} times on average, of "
            f"{training.max_uses} allowed.",
            f"Set a smaller training.reuse (it is {training.reuse:g}), or more "
            "training.max_uses if that is intended.",
        )


def _strength(history: History) -> Iterator[Finding]:
    """Compares accuracy on solved positions, or ratings if they are precise enough."""
    accuracies = history.values("accuracy")
    if len(accuracies) >= 3:
        yield from _compare(history, accuracies, "accuracy")
        return
    ratings, errors = history.values("rating"), history.values("rating_error")
    size = len(last_third(ratings))
    if len(ratings) >= 3 and len(errors) == len(ratings):
        error = (mean(last_third(errors)) or 0.0) / math.sqrt(size)
        if error < 2 * RATING_GAINED:
            yield from _compare(history, ratings, "rating")


def _compare(history: History, numbers: list[float], what: str) -> Iterator[Finding]:
    """Compares the last third of the run with the third before, and with the best before it."""
    late, before = mean(last_third(numbers)), mean(middle_third(numbers))
    if late is None or before is None:
        return
    is_accuracy = what == "accuracy"
    form = ".1%" if is_accuracy else ".0f"
    best = max(numbers[: len(numbers) - len(last_third(numbers))])
    lost = ACCURACY_LOST if is_accuracy else 4 * RATING_GAINED
    loss = history.values("loss")
    if late < best - lost and loss and loss[-1] < loss[0]:
        yield Finding(
            "overfitting",
            "warning",
            f"The {what} was {best:{form}} and is {late:{form}} over the last third of the run, "
            f"while the loss fell from {loss[0]:.2f} to {loss[-1]:.2f}.",
            f"Set a smaller training.reuse (it is {history.config.training.reuse:g}) or "
            "training.learning_rate, a larger training.window_start, or run.gate=true.",
        )
    elif late < before + (ACCURACY_GAINED if is_accuracy else RATING_GAINED):
        if is_accuracy and late >= NEARLY_PERFECT:
            return
        yield Finding(
            "strength stagnates",
            "warning",
            f"The {what} went from {before:{form}} to {late:{form}} over the last third of the "
            "run.",
            f"Give more {history.budget}, a larger network (network.blocks, network.channels), or "
            "more random openings (selfplay.opening_share).",
        )


def _rate_spent(history: History) -> Iterator[Finding]:
    training, rates = history.config.training, history.values("learning_rate")
    if training.schedule == "constant" or not rates:
        return
    lowest = training.final_rate if training.schedule == "cosine" else 0.01
    low = RATE_SPENT * lowest * training.learning_rate
    at_end = itertools.takewhile(lambda rate: rate <= low, reversed(rates))  # warm-up is low too
    spent = sum(1 for _ in at_end) / len(rates)
    if spent > LONG_SPENT:
        yield Finding(
            "learning rate spent",
            "note",
            f"The learning rate was at its lowest, {rates[-1]:.2g}, for {spent:.0%} of the run.",
            "Resume with a later limit (--minutes, --generations): the schedule covers the whole "
            "run, so the rate rises again; or set training.schedule=constant.",
        )
