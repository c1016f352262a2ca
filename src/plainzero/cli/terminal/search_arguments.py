"""Command-line arguments turned into a game, a position and a searcher."""

import random
import re
from typing import Any, NamedTuple

from plainzero import CHANCE, Game, SearchConfig, Searcher, make_game
from plainzero.cli.terminal.errors import BadInput, refusing
from plainzero.games.contract import move_name
from plainzero.games.formats.replay_moves import find_move
from plainzero.opponents.agent import Agent
from plainzero.search.config import parse_option

# Visits are 32-bit counts, and a timeout of centuries overflows.
_BUDGETS = {"simulations": 2_000_000_000, "nodes": 2_000_000_000, "seconds": 1_000_000_000}


class SearchArgs(NamedTuple):
    """The arguments that `plainzero search` and `plainzero play` share."""

    game: str
    simulations: int | None
    seconds: float | None
    evaluator: str
    settings: list[str]  # option=value
    threads: int | None = None

    @property
    def says_how_to_search(self) -> bool:
        """Whether anything but the game is given."""
        return self[1:] != (None, None, "rollout", [], None)


def make_searcher(args: SearchArgs, default_budget: dict[str, Any]) -> Searcher:
    """A searcher with the given options, or the default budget if they set none."""
    with refusing(args.game):
        config = make_config(args, default_budget)
        return Searcher(make_game(args.game), args.evaluator, config, threads=args.threads)


def searcher_of_agent(spec: str, args: SearchArgs) -> Searcher:
    """The searcher of an agent that searches; `args` may only name the game."""
    from plainzero.arena.agent_specs import parse_agent
    from plainzero.opponents.search_agent import SearchAgent

    if args.says_how_to_search:
        raise BadInput(f"--agent brings its own search; change it as in {spec},c_puct=2")
    with refusing(args.game):
        agent = parse_agent(spec, make_game(args.game))
        refuse_book(agent)
        if not isinstance(agent, SearchAgent):
            raise BadInput(f"{spec} does not search; name an agent that does, as in uct:1000")
        return agent.searcher()


def refuse_book(agent: Agent) -> None:
    """Refuses an agent with an opening book, where a search is examined and no move is played."""
    from plainzero.opponents.book_agent import BookAgent

    if isinstance(agent, BookAgent):
        raise BadInput(f"{agent.name}: the search does not use the opening book; leave out book")


def make_config(args: SearchArgs, default_budget: dict[str, Any]) -> SearchConfig:
    """All options merged; an explicit budget replaces the default one."""
    options = dict(_parse_setting(setting) for setting in args.settings)
    for name in ("simulations", "seconds"):
        if (value := getattr(args, name)) is not None:
            options[name] = value
    if options.keys().isdisjoint(_BUDGETS):
        options |= default_budget
    for name, most in _BUDGETS.items():
        if options.get(name, 0) > most:
            raise BadInput(f"{name} is {options[name]}; the maximum is {most:,}")
    return SearchConfig(**{"simulations": 0, **options})


def play_moves(game: Game, text: str, seed: int) -> tuple[Any, list[str]]:
    """The position after the moves in `text`, and their names.

    At a chance node an outcome is sampled unless the next word names one.
    """
    state, played, chance = game.new_state(), [], random.Random(seed)
    words = split_moves(game, text)
    while words or waits_for_chance(state):
        if not waits_for_chance(state):
            action = find_move(game, state, words.pop(0))
        elif (named := _named_outcome(game, state, words)) is not None:
            action = named
        else:
            action = draw_outcome(game, state, chance)
        played.append(move_name(game, state.to_play, action))
        game.apply(state, action)
    return state, played


def waits_for_chance(state: Any) -> bool:
    """Whether the position is a chance node."""
    return bool(state.to_play == CHANCE and not state.is_over)


def split_moves(game: Game, text: str) -> list[str]:
    """Splits at commas if any, else at spaces, unless the whole text is one move's name."""
    if "," in text:
        return [word.strip() for word in text.split(",") if word.strip()]
    try:
        game.parse_action(text.strip())
    except (ValueError, LookupError):
        return text.split()
    return [text.strip()]


def draw_outcome(game: Game, state: Any, chance: random.Random) -> int:
    """A chance outcome, sampled by its probability."""
    outcomes, probabilities = zip(*game.chances(state), strict=True)
    return int(chance.choices(outcomes, probabilities)[0])


def _named_outcome(game: Game, state: Any, words: list[str]) -> int | None:
    """The outcome named by the first word, which is then removed; None if there is none."""
    for outcome, _ in game.chances(state):
        if words and game.outcome_name(outcome) == words[0]:
            del words[0]
            return outcome
    return None


def _parse_setting(text: str) -> tuple[str, Any]:
    match = re.fullmatch(r"\s*([^=\s]+)\s*=\s*(.*?)\s*", text)
    if match is None:
        raise BadInput(f"invalid setting {text!r}; write --set OPTION=VALUE, as in --set c_puct=2")
    return match[1], parse_option(match[1], match[2])
