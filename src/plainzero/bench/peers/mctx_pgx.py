# mypy: ignore-errors
"""Self-play of mctx on pgx's Connect Four, compiled by JAX into one loop.

The network and its weights are PlainZero's, in float32 with channels last.
"""

import functools

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import pgx
from pgx.experimental import auto_reset

PACKAGES = ("jax", "mctx", "pgx")
POLICIES = {"muzero": mctx.muzero_policy, "gumbel": mctx.gumbel_muzero_policy}


def make_player(settings):
    """A function that plays moves in every game of a batch and returns what it did, as counts.

    `settings` are policy (muzero or gumbel), batch, simulations, moves (per game and call), blocks,
    seed, and weights: the path of an .npz file.
    """
    env = pgx.make("connect_four")
    weights = _load_weights(settings["weights"])
    search = functools.partial(
        POLICIES[settings["policy"]],
        recurrent_fn=functools.partial(expand, env, settings["blocks"]),
        num_simulations=settings["simulations"],
    )
    batch, moves = settings["batch"], settings["moves"]
    play_moves = jax.jit(
        functools.partial(_play_moves, env, search, settings["blocks"], batch, moves)
    )
    key, start_key = jax.random.split(jax.random.key(settings["seed"]))
    state = jax.vmap(env.init)(jax.random.split(start_key, batch))

    def play():
        nonlocal key, state
        key, state, games = play_moves(weights, key, state)
        positions = batch * moves
        return {
            "positions": positions,
            "games": int(games),  # waits for the result
            "simulations": positions * settings["simulations"],
            "evaluations": positions * (settings["simulations"] + 1),
        }

    return play


def _play_moves(env, search, blocks, batch, moves, weights, key, state):
    """Plays `moves` moves in each game; finished games restart."""
    step = jax.vmap(auto_reset(env.step, env.init))

    def play_move(carry, _):
        key, state = carry
        key, search_key, step_key = jax.random.split(key, 3)
        logits, value = evaluate(weights, blocks, state.observation)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state)
        found = search(
            params=weights,
            rng_key=search_key,
            root=root,
            invalid_actions=~state.legal_action_mask,
        )
        state = step(state, found.action, jax.random.split(step_key, batch))
        return (key, state), state.terminated.sum()

    (key, state), ended = jax.lax.scan(play_move, (key, state), None, length=moves)
    return key, state, ended.sum()


def expand(env, blocks, weights, key, action, state):
    """The recurrent function of mctx: plays a move in each leaf and evaluates the result.

    Values are from the view of the player to move, who changes with every move: hence the discount
    of −1.
    """
    mover = state.current_player
    state = jax.vmap(env.step)(state, action)
    logits, value = evaluate(weights, blocks, state.observation)
    is_over = state.terminated
    output = mctx.RecurrentFnOutput(
        reward=state.rewards[jnp.arange(len(mover)), mover],
        discount=jnp.where(is_over, 0.0, -1.0),
        prior_logits=jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min),
        value=jnp.where(is_over, 0.0, value),
    )
    return output, state


def evaluate(weights, blocks, planes):
    """Logits [B, A] and values [B] of observations [B, H, W, C], computed in the weights' dtype."""
    planes = planes.astype(weights["body.0.weight"].dtype)
    x = jax.nn.relu(_convolve(weights, "body.0", planes))
    for block in range(2, 2 + blocks):
        inner = jax.nn.relu(_convolve(weights, f"body.{block}.first", x))
        x = jax.nn.relu(x + _convolve(weights, f"body.{block}.second", inner))
    logits = _connect(weights, "policy.3", _read(weights, "policy.0", x))
    hidden = jax.nn.relu(_connect(weights, "value.3", _read(weights, "value.0", x)))
    value = jnp.tanh(_connect(weights, "value.5", hidden))[:, 0]
    return logits.astype(jnp.float32), value.astype(jnp.float32)


def _read(weights, name, x):
    return jax.nn.relu(_convolve(weights, name, x)).reshape(len(x), -1)


def _convolve(weights, name, x):
    convolved = jax.lax.conv_general_dilated(
        x,
        weights[f"{name}.weight"],
        window_strides=(1, 1),
        padding="SAME",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    return convolved + weights[f"{name}.bias"]


def _connect(weights, name, x):
    return x @ weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _load_weights(path):
    """PyTorch's arrays with the axes in JAX's order."""
    loaded = dict(np.load(path))
    rows, cols = loaded.pop("board")
    for name, array in loaded.items():
        if array.ndim == 4:
            loaded[name] = array.transpose(2, 3, 1, 0)
        elif name in ("policy.3.weight", "value.3.weight"):  # their input is a flattened board
            by_channel = array.reshape(len(array), -1, rows, cols)
            loaded[name] = by_channel.transpose(2, 3, 1, 0).reshape(-1, len(array))
        elif array.ndim == 2:
            loaded[name] = array.T
    return {name: jnp.asarray(array) for name, array in loaded.items()}
