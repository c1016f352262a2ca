"""One position across the checkpoints of a run: what each network says without a search."""

import bisect
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plainzero.games.contract import CHANCE, Game
from plainzero.server.api.schemas.games import Move
from plainzero.server.api.schemas.runs import Generation, Opinion, Opinions
from plainzero.server.searching.scheduler import Turn
from plainzero.server.runs.loaded_networks import Weights

Say = Callable[[int], Opinion]


def find_opinions(
    weights: Weights,
    run: str,
    game: Game,
    state: Any,
    moves: Sequence[Move],
    most_steps: int,
    turn: Turn,
) -> Opinions:
    """What the networks of at most so many steps say, the first and the last step among them.

    Args:
        weights: of the runs.
        run: whose networks.
        game: the position's.
        state: the position.
        moves: the legal ones, in the order in which policies are given.
        most_steps: with 1, the last alone.
        turn: gives way to others between two steps; once it is stopped, no further step is asked.

    Raises:
        ValueError: when the run is of another game, or nobody is to move.
    """
    reader = weights.runs.reader(run)
    saved = reader.open().saved
    if saved.game != game:
        raise ValueError(f"{run} is a run of {saved.game.name}, not of {game.name}")
    if state.is_over or state.to_play == CHANCE:
        raise ValueError("a network has opinions only where a player is to move")
    planes, actions = game.observation(state), [move.action for move in moves]
    say = _make_speaker(saved, planes, actions, reader.generations())
    position = _digest(planes, actions)
    said: list[Opinion] = []
    for step in spread_steps(reader.steps(), most_steps):
        turn.give_way()
        if turn.stop.is_set():
            break
        try:
            key = (reader.path, weights.stamp(reader, step), position)
            said.append(weights.opinions.find(key, lambda step=step: say(step)))  # type: ignore[misc]
        except ValueError as error:
            if step in reader.steps():  # else they were deleted meanwhile
                raise ValueError(reader.without_path(error)) from error
    return Opinions(moves=list(moves), opinions=said, outcomes=[])


def spread_steps(steps: Sequence[int], most: int) -> list[int]:
    """At most so many of the steps, evenly, the first and the last among them."""
    if len(steps) <= most:
        return list(steps)
    if most == 1:
        return [steps[-1]]
    last = len(steps) - 1
    return [steps[round(place * last / (most - 1))] for place in range(most)]


def _digest(planes: NDArray[np.float32], actions: list[int]) -> bytes:
    """What stands for a position among those kept: as many bytes whatever the board's size."""
    digest = hashlib.blake2b(planes.tobytes(), digest_size=16)
    digest.update(np.array(actions, np.int64).tobytes())
    return digest.digest()


def _make_speaker(
    saved: Any, planes: NDArray[np.float32], actions: list[int], generations: list[Generation]
) -> Say:
    """Says what the network of a step thinks; one network takes the weights of all in turn."""
    import torch

    from plainzero.networks.architectures import make_network
    from plainzero.networks.backends.torch_backend import torch_threads

    network: Any = None
    batch = torch.from_numpy(planes[None])
    known_steps = [generation.step for generation in generations]

    def say(step: int) -> Opinion:
        nonlocal network
        if network is None:
            network = make_network(saved.game, saved.config.network, 0).eval()
        with torch_threads(1):
            saved.folder.load_weights(network, step)
            with torch.inference_mode():
                output = network(batch)
                policy = torch.softmax(output.logits[0, actions], 0)
        place = bisect.bisect_right(known_steps, step)
        return Opinion(
            step=step,
            generation=generations[place - 1].generation if place else 0,
            value=float(output.values.reshape(-1)[0]),
            policy=policy.tolist(),
        )

    return say
