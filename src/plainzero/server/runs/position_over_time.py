"""One position over time: how each checkpoint of a run evaluates it, without a search."""

import bisect
import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE, Game
from plainzero.server.api.schemas.games import Move
from plainzero.server.api.schemas.runs import CheckpointEvaluation, Generation, PositionOverTime
from plainzero.server.runs.loaded_networks import LoadedNetworks
from plainzero.server.searching.scheduler import Slot


def evaluate_checkpoints(
    networks: LoadedNetworks,
    run: str,
    game: Game,
    state: Any,
    moves: Sequence[Move],
    max_steps: int,
    slot: Slot,
) -> PositionOverTime:
    """Evaluates a position with at most `max_steps` checkpoints, including the first and the last.

    Args:
        networks: of the runs.
        run: that saved the checkpoints.
        game: of the position.
        state: the position.
        moves: the legal ones, which determine the order of policies.
        max_steps: the number of checkpoints; 1 means the last.
        slot: yields to others between two checkpoints; stopping it ends the evaluation.

    Raises:
        ValueError: if the run is of another game, or no player is to move.
    """
    reader = networks.runs.reader(run)
    saved = reader.open().saved
    if saved.game != game:
        raise ValueError(f"{run} is a run of {saved.game.name}, not of {game.name}")
    if state.is_over or state.to_play == CHANCE:
        raise ValueError("networks evaluate only positions in which a player is to move")
    planes, actions = game.observation(state), [move.action for move in moves]
    evaluate = _make_evaluate(saved, planes, actions, reader.generations())
    position = _digest(planes, actions)
    checkpoints: list[CheckpointEvaluation] = []
    for step in spread_steps(reader.steps(), max_steps):
        slot.yield_to_others()
        if slot.stop.is_set():
            break
        try:
            key = (reader.path, networks.stamp(reader, step), position)
            checkpoints.append(networks.evaluations.get(key, functools.partial(evaluate, step)))
        except ValueError as error:
            if step in reader.steps():  # otherwise they were deleted meanwhile
                raise ValueError(reader.without_path(error)) from error
    return PositionOverTime(moves=list(moves), checkpoints=checkpoints, outcomes=[])


def spread_steps(steps: Sequence[int], max_steps: int) -> list[int]:
    """At most `max_steps` of the steps, evenly spread, including the first and the last."""
    if len(steps) <= max_steps:
        return list(steps)
    if max_steps == 1:
        return [steps[-1]]
    last = len(steps) - 1
    return [steps[round(place * last / (max_steps - 1))] for place in range(max_steps)]


def _digest(planes: NDArray[np.float32], actions: list[int]) -> bytes:
    """The cache key of a position, equally short for large boards."""
    digest = hashlib.blake2b(planes.tobytes(), digest_size=16)
    digest.update(np.array(actions, np.int64).tobytes())
    return digest.digest()


def _make_evaluate(
    saved: Any, planes: NDArray[np.float32], actions: list[int], generations: list[Generation]
) -> Callable[[int], CheckpointEvaluation]:
    """A function from steps to evaluations, which loads all weights into one network."""
    import torch

    from plainzero.networks.architectures import make_network
    from plainzero.networks.backends.torch_backend import torch_threads

    network: Any = None
    batch = torch.from_numpy(planes[None])
    known_steps = [generation.step for generation in generations]

    def evaluate(step: int) -> CheckpointEvaluation:
        nonlocal network
        if network is None:
            network = make_network(saved.game, saved.config.network, 0).eval()
        with torch_threads(1):
            saved.folder.load_weights(network, step)
            with torch.inference_mode():
                output = network(batch)
                policy = torch.softmax(output.logits[0, actions], 0)
        place = bisect.bisect_right(known_steps, step)
        return CheckpointEvaluation(
            step=step,
            generation=generations[place - 1].generation if place else 0,
            value=float(output.values.reshape(-1)[0]),
            policy=policy.tolist(),
        )

    return evaluate
