"""What the columns of each position must be, from the records alone: sums as in the papers."""

import math

import numpy as np
from played_games import positions_of

from plainzero.games.check.final_scores import owned_cells
from plainzero.games.contract import has_score
from plainzero.targets.target import PROVEN, UNSEARCHED


def slow_columns(game, records, horizons):
    """By name, the numbers of each target position, in order."""
    found = {}
    for record in records:
        positions = positions_of(game, record)
        turns = np.flatnonzero(record.is_target)
        surprise = record.surprise[turns]
        for place, turn in enumerate(turns):
            columns = {
                "policies": record.policies[turn],
                "outcomes": from_mover(outcome_of(record, turn), positions[turn]),
                "values": from_mover(record.values[turn], positions[turn]),
                "replies": reply_to(record, positions, turn),
                "short_values": [short_value(record, positions, turn, h) for h in horizons],
                "score": final_score(game, positions[-1], positions[turn]),
                "ownership": final_ownership(game, positions[-1], positions[turn]),
                "surprise": surprise[place] / surprise.mean() if surprise.any() else 1.0,
            }
            for name, numbers in columns.items():
                found.setdefault(name, []).append(numbers)
    return {name: np.array(numbers) for name, numbers in found.items()}


def final_score(game, end, state):
    if not end.is_over or not has_score(game):
        return np.nan
    share = game.score(end) / game.largest_score * (1 - 2 * int(state.to_play))
    return np.sign(share) * abs(share) ** 0.5


def final_ownership(game, end, state):
    if not end.is_over:
        return np.full(math.prod(game.observation_shape[1:]), np.nan)
    return owned_cells(game, end) * (1 if state.to_play == 0 else -1)


def from_mover(by_seat, state):
    return np.roll(by_seat, -int(state.to_play))


def outcome_of(record, turn):
    return record.values[turn] if record.search[turn] == PROVEN else record.returns


def reply_to(record, positions, turn):
    later = [t for t in range(turn + 1, len(record.moves)) if record.search[t] != UNSEARCHED]
    if not later or not record.is_target[later[0]]:
        return np.zeros_like(record.policies[0])
    is_others = positions[later[0]].to_play != positions[turn].to_play
    return record.policies[later[0]] * is_others


def short_value(record, positions, turn, horizon):
    mover = positions[turn].to_play
    searched = [t for t in range(turn, len(record.moves)) if record.search[t] != UNSEARCHED]
    decay = horizon / (1 + horizon)
    weights = [decay**k / (1 + horizon) for k in range(len(searched))]
    total = sum(w * record.values[t][mover] for w, t in zip(weights, searched, strict=True))
    return total + (1 - sum(weights)) * record.returns[mover]
