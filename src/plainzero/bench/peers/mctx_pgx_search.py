# mypy: ignore-errors
"""Searches of mctx on pgx's Connect Four, one function per batch of games, compiled by JAX.

The network has the shape of PlainZero's, with channels last and random weights.
"""

import functools
import time

import jax
import jax.numpy as jnp
import mctx
import pgx
from mctx_pgx import PACKAGES, POLICIES, evaluate, expand
from pgx.experimental import auto_reset

__all__ = ["PACKAGES", "describe_device", "measure"]

_HEAD_CHANNELS, _VALUE_WIDTH = 32, 64
_LOGIT_SPREAD, _VALUE_SPREAD = 1.0, 0.5  # standard deviations over the roots, as in PlainZero's
_RANDOM_MOVES = 40  # before the search; finished games restart, so all stages occur
_EVALUATIONS = 32  # per timing of the network


def describe_device():
    """The name and the platform of JAX's device."""
    device = jax.devices()[0]
    return {"device": device.device_kind, "platform": device.platform}


def measure(settings):
    """Simulations and evaluations per second, and the network's share of the search time.

    `settings` are games (in parallel), simulations, policy (muzero or gumbel), blocks, channels,
    dtype (of the network), seed, and repeats, of which the best counts. Compiling is not timed.
    """
    env = pgx.make("connect_four")
    games, simulations = settings["games"], settings["simulations"]
    root_key, weight_key, search_key = jax.random.split(jax.random.key(settings["seed"]), 3)
    roots = jax.jit(functools.partial(_play_randomly, env, games))(root_key)
    weights = _make_weights(weight_key, roots.observation, settings)
    network = jax.jit(functools.partial(_evaluate_often, settings["blocks"]))
    search = jax.jit(functools.partial(_search, env, settings))
    _time(network, weights, roots.observation)  # compiles, as does the next line
    _time(search, weights, search_key, roots)
    times = [
        (_time(network, weights, roots.observation), _time(search, weights, key, roots))
        for key in jax.random.split(search_key, settings["repeats"])
    ]
    often_seconds, search_seconds = map(min, zip(*times, strict=True))
    network_seconds = often_seconds / _EVALUATIONS
    return {
        "simulations_per_second": games * simulations / search_seconds,
        "evaluations_per_second": games / network_seconds,
        # The root is evaluated as well.
        "network_share": (simulations + 1) * network_seconds / search_seconds,
    }


def _play_randomly(env, games, key):
    """Games after random moves, at different stages."""
    step = jax.vmap(auto_reset(env.step, env.init))

    def play(state, key):
        move_key, step_key = jax.random.split(key)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        moves = jax.random.categorical(move_key, logits)
        return step(state, moves, jax.random.split(step_key, games)), None

    start_key, *keys = jax.random.split(key, 1 + _RANDOM_MOVES)
    state = jax.vmap(env.init)(jax.random.split(start_key, games))
    state = jax.lax.scan(play, state, jnp.stack(keys))[0]
    # A game that has just restarted is still marked as terminated; a search could not move in it.
    return state.replace(
        terminated=jnp.zeros_like(state.terminated), rewards=jnp.zeros_like(state.rewards)
    )


def _search(env, settings, weights, key, roots):
    """The move and the policy of a search in each game."""
    logits, value = evaluate(weights, settings["blocks"], roots.observation)
    found = POLICIES[settings["policy"]](
        params=weights,
        rng_key=key,
        root=mctx.RootFnOutput(prior_logits=logits, value=value, embedding=roots),
        recurrent_fn=functools.partial(expand, env, settings["blocks"]),
        num_simulations=settings["simulations"],
        invalid_actions=~roots.legal_action_mask,
    )
    return found.action, found.action_weights


def _make_weights(key, planes, settings):
    """Random weights under the names used by `evaluate`; outputs vary as in real games."""
    rows, cols, num_planes = planes.shape[1:]
    blocks, channels = settings["blocks"], settings["channels"]
    head = min(_HEAD_CHANNELS, channels)
    shapes = {"body.0": (3, 3, num_planes, channels)}
    for block in range(2, 2 + blocks):
        shapes[f"body.{block}.first"] = shapes[f"body.{block}.second"] = (3, 3, channels, channels)
    shapes |= {"policy.0": (1, 1, channels, head), "value.0": (1, 1, channels, head)}
    shapes |= {
        "policy.3": (rows * cols * head, cols),
        "value.3": (rows * cols * head, _VALUE_WIDTH),
    }
    shapes["value.5"] = (_VALUE_WIDTH, 1)
    draw = jax.nn.initializers.he_normal()
    weights = {}
    keys = jax.random.split(key, len(shapes))
    for (name, shape), own_key in zip(shapes.items(), keys, strict=True):
        weights[f"{name}.weight"] = draw(own_key, shape)
        weights[f"{name}.bias"] = jnp.zeros(shape[-1])
    logits, values = evaluate(weights, blocks, planes[:512])
    weights["policy.3.weight"] *= _LOGIT_SPREAD / logits.std()
    values = jnp.arctanh(jnp.clip(values, -0.999, 0.999))
    weights["value.5.weight"] *= _VALUE_SPREAD / values.std()
    return jax.tree.map(lambda array: array.astype(settings["dtype"]), weights)


def _evaluate_often(blocks, weights, planes):
    """Evaluates the network `_EVALUATIONS` times in one loop, as a search does.

    Each iteration depends on the one before, or the compiler would evaluate only once.
    """

    def evaluate_again(_, planes):
        logits, values = evaluate(weights, blocks, planes)
        is_impossible = values + jnp.abs(logits).max(axis=1) < -1.0
        return planes ^ is_impossible[:, None, None, None]

    return jax.lax.fori_loop(0, _EVALUATIONS, evaluate_again, planes)


def _time(function, *arguments):
    """Seconds until the results are ready."""
    start = time.perf_counter()
    jax.block_until_ready(function(*arguments))
    return time.perf_counter() - start
