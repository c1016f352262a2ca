"""Checks of self-play: exploration, results, lengths of games, and time."""

import math
from collections.abc import Iterator

from plainzero.games.contract import has_chance
from plainzero.selfplay.game_traits import traits_of
from plainzero.selfplay.search_defaults import is_starved
from plainzero.training.doctor.history import Finding, History

ALL_DRAWS = 0.95
"""Share of drawn games; the rest is too little to learn winning from."""

ONE_SIDED = 0.9
"""Mean result of the first player; z then only says whose turn it is."""

LEAST_ENTROPY = 0.05
"""Entropy of the policy, in ln(actions): with ten actions, over 98 % on one move."""

SHORT_GAME = 1.5
"""Searched moves per game; the first search already sees the end."""

LONG_GAME = 0.98
"""Average length as a share of max_turns: games do not end by themselves."""

CUT_OFF = 0.5
"""Share of draws among such long games, beyond which they look cut off."""

MOST_FALSE_RESIGNATIONS = 0.05
"""AlphaGo Zero's limit on the share of checked resignations that were not lost."""

LEAST_NETWORK_SHARE = 0.6
"""Share of self-play's time spent in the network; 0.85 is the aim for a residual network."""

USUAL_HITS = 0.5
"""Share of evaluations from the cache beyond which an idle network is no problem."""

LEAST_SELFPLAY_SHARE = 0.4
"""Share of a generation's time. A run learns from new games; steps only repeat old ones."""

LEAST_HITS = 0.02
"""Share of evaluations found in the cache; fewer are not worth the memory."""

LEAST_PASSED = 0.1
"""Share of generations that pass the gate."""


def check_selfplay(history: History) -> Iterator[Finding]:
    """Problems of the games of a run, and of their speed."""
    yield from _no_exploration(history)
    yield from _search_starved(history)
    yield from _results(history)
    yield from _length(history)
    yield from _false_resignations(history)
    yield from _time(history)
    yield from _cache(history)
    if not history.is_early:
        yield from _policy_collapsed(history)
        yield from _gate(history)


def _no_exploration(history: History) -> Iterator[Finding]:
    """Looks at the settings alone; Gumbel samples by itself."""
    search, selfplay = history.config.search, history.config.selfplay
    if search.selection == "gumbel":
        return
    is_varied = (
        selfplay.temperature > 0
        or selfplay.opening_share * selfplay.opening_plies > 0
        or has_chance(history.game)
    )
    if not is_varied:
        yield Finding(
            "no exploration",
            "problem" if search.noise_weight == 0 else "warning",
            "Moves are played at temperature 0 and no game has a random opening, so all games are "
            "alike.",
            "Set selfplay.temperature=1, or selfplay.opening_share=0.7 and "
            "selfplay.opening_plies=-1.",
        )
    if search.noise_weight == 0:
        yield Finding(
            "no root noise",
            "warning",
            "search.noise_weight is 0: moves with a small prior are never tried.",
            "Set search.noise_weight=0.25.",
        )


def _policy_collapsed(history: History) -> Iterator[Finding]:
    entropy, actions = history.recent("policy_entropy"), history.game.num_actions
    if entropy is None or actions < 2 or entropy >= LEAST_ENTROPY * math.log(actions):
        return
    target = history.recent("target_entropy")
    searched = f" and the search's {target:.3f}" if target is not None else ""
    search, selfplay = history.config.search, history.config.selfplay
    noise = f"search.noise_weight=0.25 or more (it is {search.noise_weight:g}), "
    yield Finding(
        "policy collapsed",
        "warning",
        f"The network's policy has an entropy of {entropy:.3f}{searched}; a uniform one has "
        f"{math.log(actions):.2f}.",
        f"Set {noise if search.selection != 'gumbel' else ''}more selfplay.opening_share (it is "
        f"{selfplay.opening_share:g}) and more {history.budget}.",
    )


def _search_starved(history: History) -> Iterator[Finding]:
    search = history.config.search
    budget = search.visits or search.simulations  # of a full search
    if search.selection != "gumbel" and is_starved(budget, history.game):
        moves = traits_of(history.game).most_moves
        yield Finding(
            "search starved",
            "warning",
            f"A search has {budget} simulations for up to {moves} moves, and finds little more "
            "than the network's own policy.",
            f"Set {history.budget}={moves}, or search.selection=gumbel, which needs few.",
        )


def _results(history: History) -> Iterator[Finding]:
    if history.game.num_players < 2:
        return
    advice = (
        "Set more selfplay.opening_share and selfplay.opening_plies (they are "
        f"{history.config.selfplay.opening_share:g} and {history.config.selfplay.opening_plies}), "
        "so that games start from uneven positions."
    )
    draws, score = history.recent("draw_rate"), history.recent("first_player_score")
    if draws is not None and draws >= ALL_DRAWS:
        explained = history.recent("value_explained") or 0.0
        yield Finding(
            "all draws",
            "warning" if explained > 1 / 3 else "problem",
            f"{draws:.0%} of the latest games are drawn; their results teach nothing.",
            f"{advice} If perfect play is a draw, there may be nothing left to learn.",
        )
    worst = -1.0 / (history.game.num_players - 1)
    if score is not None and (score >= ONE_SIDED or score <= ONE_SIDED * worst):
        yield Finding(
            "one side wins",
            "problem",
            f"The first player's mean result is {score:+.2f}: who wins is known beforehand.",
            f"{advice} Run `plainzero check` on the game if no side should have such an advantage.",
        )


def _length(history: History) -> Iterator[Finding]:
    length, games = history.recent("game_length"), sum(history.values("games"))
    positions = history.last("total_positions")
    selfplay, most = history.config.selfplay, history.game.max_turns
    if games and positions is not None:
        searched = positions / games / selfplay.full_share
        if searched < SHORT_GAME:
            yield Finding(
                "games end at once",
                "warning",
                f"A game has {searched:.1f} searched moves on average.",
                f"Set a smaller selfplay.opening_plies (it is {selfplay.opening_plies}), or "
                "selfplay.end_proven=false; run `plainzero check` on the game if it should last "
                "longer.",
            )
    draws = history.recent("draw_rate")
    if length is None or draws is None or history.game.num_players < 2:
        return
    if length >= LONG_GAME * most and draws >= CUT_OFF:
        yield Finding(
            "games too long",
            "warning",
            f"Games last {length:.0f} moves of at most {most}, and {draws:.0%} are drawn: they "
            "seem to be cut off.",
            "Give the game a larger max_turns or a rule that ends it; or let players resign: "
            "selfplay.resign_below=0.95.",
        )


def _false_resignations(history: History) -> Iterator[Finding]:
    rate, bound = history.recent("false_resign_rate"), history.config.selfplay.resign_below
    if rate is not None and rate > MOST_FALSE_RESIGNATIONS and bound:
        yield Finding(
            "false resignations",
            "problem",
            f"{rate:.0%} of the games that would have been resigned were not lost in the end.",
            f"Set selfplay.resign_below={(1 + bound) / 2:.3g} (it is {bound:g}), more "
            "selfplay.resign_turns, or selfplay.resign_below=0.",
        )


def _time(history: History) -> Iterator[Finding]:
    """Skips runs of one generation: the first one compiles."""
    if history.generations < 2:
        return
    share, hits = history.recent("evaluator_share"), history.recent("cache_hit_rate") or 0.0
    config = history.config
    if share is not None and share < LEAST_NETWORK_SHARE and hits < USUAL_HITS:
        yield Finding(
            "network starved",
            "warning",
            f"The network computes {share:.0%} of the time; the rest is search and waiting.",
            f"Set selfplay.games={2 * config.selfplay.games} (it is {config.selfplay.games}) for "
            "larger batches; if the network is very small, a larger one costs little.",
        )
    selfplay = history.recent("selfplay_share")
    if selfplay is not None and selfplay < LEAST_SELFPLAY_SHARE:
        yield Finding(
            "learning takes most of the time",
            "warning",
            f"Self-play takes {selfplay:.0%} of the time, and learning the rest.",
            f"Set training.reuse={config.training.reuse / 2:g} (it is "
            f"{config.training.reuse:g}), or more {history.budget} for better games.",
        )


def _cache(history: History) -> Iterator[Finding]:
    hits, room = history.recent("cache_hit_rate"), history.config.run.cache_bytes
    if hits is not None and room and hits < LEAST_HITS:
        yield Finding(
            "cache useless",
            "note",
            f"The cache of {room >> 20} MiB per thread answered {hits:.1%} of the evaluations.",
            "Set run.cache_bytes=0 to save the memory, or try four times as much.",
        )


def _gate(history: History) -> Iterator[Finding]:
    passed = history.recent("gate_passed")
    if passed is not None and passed < LEAST_PASSED:
        yield Finding(
            "gate refuses",
            "warning",
            f"{passed:.0%} of the latest weights passed the gate, so the same ones keep playing.",
            "Set more training.generation_positions, so that weights differ enough, or "
            "run.gate=false.",
        )
