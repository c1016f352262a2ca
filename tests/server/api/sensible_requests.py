"""Positions, players and names for drawn requests: such as there are, now and then spoiled."""

import typing
from typing import Literal

from hypothesis import strategies as st

from plainzero.games import make_game
from plainzero.search.config import option_kinds

RUN = "finished"
GAMES = ("tic-tac-toe", "connect-four", "2048(size=2,target=32)", "trio")
SAVED = (
    '{"format": "plainzero-game", "version": 1, "game": "tic-tac-toe", "moves": ["b2"]}',
    '{"format": "plainzero-game", "version": 1, "game": "trio", "moves": ["b2"], "setup": {}}',
    "(;GN[connect-four(rows=4,cols=5)];B[1];W[2])",
    "(;GN[2048])",
)
ODD_HEADERS = (
    {"origin": "http://["},
    {"origin": "null"},
    {"host": "["},
    {"host": "TESTSERVER:99999999"},
    {"sec-fetch-site": "same-site"},
    {"authorization": "Bearer"},
    {"content-type": "text/plain"},
    {"content-type": "application/json; charset=none"},
    {"content-length": "1e9"},
)
HEADERS = ({},) * 2 * len(ODD_HEADERS) + ODD_HEADERS
ODD_NUMBERS = (-1, 2**31, 2**63, 10**30, 10**400)


def make_sensible(case, parts):
    """Puts what was drawn into those places of a request that ask for it."""
    if parts is None:
        return
    for place in (case.path_parameters, case.query, case.body):
        if not isinstance(place, dict):
            continue
        place |= {name: parts[name] for name in place if name in parts}
        if place is case.body and place.keys() & {"game", "moves"} and "position" not in place:
            place |= parts["position"]


@st.composite
def parts(draw):
    """Parts of a request by name; None for one that stays as it is."""
    if draw(st.integers(0, 3)) == 0:
        return None
    position = draw(positions())
    return {
        "game": position["game"],
        "position": position,
        "agent": draw(agents()),
        "players": [],
        "action": draw(st.integers(0, 5)),
        "name": None,
        "resigned": draw(st.sampled_from([None, 0])),
        "content": draw(st.sampled_from(SAVED)),
        "seconds": 0.2,
        "run": RUN,
        "generation": draw(st.integers(1, 3)),
        "index": draw(st.integers(0, 5)),
        "max_steps": draw(st.integers(1, 5)),
        "settings": [],
    }


@st.composite
def positions(draw):
    """A position from the game's beginning, or one made by hand, which may be spoiled."""
    name = draw(st.sampled_from(GAMES))
    game, moves = make_game(name), []
    state = game.new_state()
    for number in draw(st.lists(st.integers(0, 99), max_size=6)):
        if not state.is_over:
            legal = game.legal(state)
            moves.append(legal[number % len(legal)])
            game.apply(state, moves[-1])
    if draw(st.integers(0, 2)) > 0:
        return {"game": name, "moves": moves}
    cells = [list(row) for row in game.view(state).cells]
    cells[0][0] = draw(st.sampled_from([cells[0][0], "x", "2", "", "no piece"]))
    setup = {"cells": cells, "to_play": draw(st.integers(0, game.num_players))}
    return {"game": name, "setup": setup, "moves": draw(st.lists(st.integers(0, 5), max_size=1))}


def agents():
    """Agents of every kind, that do not think for long."""
    search = st.fixed_dictionaries(
        {
            "kind": st.just("search"),
            "evaluator": st.sampled_from(["rollout", "uniform", "network"]),
            "run": st.just(RUN),
            "simulations": st.integers(1, 30),
            "options": options(),
        }
    )
    others = [
        {"kind": "network", "run": RUN},
        {"kind": "alphabeta", "depth": 2},
        {"kind": "perfect"},
        {"kind": "random"},
    ]
    return st.one_of(search, st.sampled_from(others))


def options():
    """Up to two options of a search, mostly with values of their kind."""
    kinds = option_kinds()
    names = st.lists(st.sampled_from([*kinds]), max_size=2, unique=True)
    return names.flatmap(
        lambda chosen: st.fixed_dictionaries({name: option_values(kinds[name]) for name in chosen})
    )


def option_values(kind):
    """Values of that kind, and numbers that are none of anything."""
    if typing.get_origin(kind) is Literal:
        return st.sampled_from(typing.get_args(kind))
    usual = {bool: st.booleans(), int: st.integers(0, 20), float: st.floats(0, 2)}[kind]
    return usual if kind is bool else st.one_of(usual, usual, st.sampled_from(ODD_NUMBERS))
