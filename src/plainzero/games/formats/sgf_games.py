"""Games as SGF (FF[4]), for games of one or two players without chance; black is the first.

Go, Gomoku, Othello and Hex are written as other programs write them, and their files are read. In
every other game a move is its name, and `GN` names the game.
"""

from collections.abc import Callable, Iterator, Sequence

from plainzero import __version__
from plainzero.games.contract import Game, State, has_chance
from plainzero.games.formats.json_games import dump, parse_json
from plainzero.games.formats.played_game import (
    SavedGame,
    StartingPosition,
    check_people,
    read_setup,
    replay_saved,
    require,
    setup_content,
)
from plainzero.games.formats.replay_moves import ReplayedGame
from plainzero.games.formats.sgf_points import (
    KINDS,
    TITLES,
    board_size,
    read_move,
    read_points,
    write_move,
    write_point,
)
from plainzero.games.formats.sgf_syntax import Node, escape, main_lines

_COLOURS = ("B", "W")
_STONES = ("x", "o")
_SETUP = "PLAINZEROSETUP"  # ours, if AB and AW do not suffice: cells and to_play as JSON
_STONE_LISTS = ("AB", "AW", "AE")
_MOVES_PER_LINE = 10


def to_sgf(game: Game, saved: SavedGame) -> str:
    """The game as SGF.

    Raises:
        ValueError: if its moves are illegal, or SGF does not support such a game.
    """
    _check_fits(game)
    replay = replay_saved(game, saved)
    root = {"FF": "4", "CA": "UTF-8", "AP": f"PlainZero:{__version__}", "GN": saved.game}
    kind = KINDS.get(game.title())
    if kind is not None:
        root |= {"GM": str(kind.number), "SZ": str(board_size(game))}
        komi = getattr(game, kind.komi, None) if kind.komi else None  # a user's Go may have none
        root |= {} if komi is None else {"KM": f"{komi:g}"}
    root |= dict(zip(("PB", "PW"), saved.players, strict=False))
    if result := _result(saved, replay.state):
        root["RE"] = result
    properties = "".join(f"{key}[{escape(value)}]" for key, value in root.items())
    if saved.cells is not None:
        properties += _write_setup(game, saved)
    moves = [
        f";{_COLOURS[mover]}[{escape(write_move(game, action, name))}]"
        for mover, action, name in zip(replay.movers, replay.moves, replay.names, strict=True)
    ]
    starts = range(0, len(moves), _MOVES_PER_LINE)
    lines = ["".join(moves[start : start + _MOVES_PER_LINE]) for start in starts]
    return "\n".join([f"(;{properties}", *lines]) + ")\n"


def read_sgf(
    text: str, make_game: Callable[[str], Game], name: str | None = None
) -> Iterator[SavedGame]:
    """The games of the file one after the other, each without its variations.

    Args:
        text: what the file holds.
        make_game: gives the game of a name, or raises a ValueError.
        name: of the game, if GN names none; it takes precedence over GM.

    Raises:
        ValueError: if one cannot be read, or its moves are illegal.
    """
    for nodes in main_lines(text):
        yield _read_game(nodes, make_game, name)


def _read_game(nodes: list[Node], make_game: Callable[[str], Game], name: str | None) -> SavedGame:
    root = nodes[0]
    name, game = _find_game(root, make_game, name)
    _check_fits(game)
    setup, first = _read_position(game, nodes)
    replay = ReplayedGame(game, *setup)
    for node in nodes[first:]:
        _play_node(replay, node)
    players = [root.get(key, [""])[0] for key in ("PB", "PW")][: game.num_players]
    players = players if root.keys() & {"PB", "PW"} else []
    winner, _, how = root.get("RE", [""])[0].partition("+")
    is_resigned = winner in _COLOURS and how in ("R", "Resign") and not replay.state.is_over
    resigned = 1 - _COLOURS.index(winner) if is_resigned else None
    check_people(game, players, resigned, replay.state)
    return SavedGame(name, *setup, replay.moves, players, resigned)


# ---- which game ---------------------------------------------------------------------------------


def _check_fits(game: Game) -> None:
    if has_chance(game) or game.num_players > len(_COLOURS):
        why = "chance" if has_chance(game) else f"{game.num_players} players"
        raise ValueError(
            f"SGF does not support {game.name}, a game with {why}; save it as JSON instead"
        )


def _find_game(root: Node, make_game: Callable[[str], Game], name: str | None) -> tuple[str, Game]:
    """The game that GN names, else the one of that name, else the one of the number GM.

    In other programs' files GN is a title.

    Raises:
        ValueError: when none says which game it is.
    """
    number = root.get("GM", [""])[0].strip()
    title = TITLES.get(int(number)) if number.isdecimal() and len(number) < 4 else None
    if "GN" in root:
        try:
            return root["GN"][0], make_game(root["GN"][0])
        except ValueError:
            if title is None and name is None:
                raise
    if name is not None:
        return name, make_game(name)
    require(
        title is not None,
        "its first node must name the game, as in GN[connect-four], or have the number of Go, "
        "Othello, Gomoku or Hex, as in GM[1]",
    )
    assert title is not None
    kind = KINDS[title]
    parameters = [f"size={_read_size(root, kind.size)}"]
    if kind.komi and (komi := root.get("KM", [""])[0].strip()):
        parameters.append(f"{kind.komi}={komi}")
    # The name without what is the default anyway, as the game says it.
    game = make_game(f"{title}({','.join(parameters)})")
    return game.name, game


def _read_size(root: Node, default: int) -> int:
    text = root.get("SZ", [str(default)])[0].strip()
    cols, _, rows = text.partition(":")
    require(
        cols.isdecimal() and len(cols) < 4 and rows in ("", cols),
        f"its board must be square, as in SZ[{default}], not SZ[{text}]",
    )
    return int(cols)


# ---- moves ---------------------------------------------------------------------------------------


def _play_node(replay: ReplayedGame, node: Node) -> None:
    for key in (*_STONE_LISTS, "PL"):
        if key in node:
            raise replay.refusal(
                f"{key}{node[key]} changes the position, which cannot be read here"
            )
    played = [(colour, name) for colour in _COLOURS for name in node.get(colour, [])]
    if len(played) > 1:
        raise replay.refusal(f"one node holds {len(played)} moves; each needs its own ;")
    for colour, value in played:
        if not replay.state.is_over and colour != _COLOURS[replay.state.to_play]:
            other = _COLOURS[replay.state.to_play]
            if not _pass_unsaid(replay):
                raise replay.refusal(
                    f"{colour}[{value}] cannot be played: it is the turn of {other}"
                )
        replay.play_named(read_move(replay.game, value))


def _pass_unsaid(replay: ReplayedGame) -> bool:
    """Whether the side to move can pass, which it does then.

    Other programs leave passes out: in Othello those that are forced, in Go white's between the
    stones of a handicap.
    """
    try:
        replay.play_named(read_move(replay.game, ""))
    except ValueError:
        return False
    return True


# ---- positions made by hand ---------------------------------------------------------------------


def _write_setup(game: Game, saved: SavedGame) -> str:
    assert saved.cells is not None
    texts = {text for row in saved.cells for text in row}
    if game.title() not in KINDS or not texts <= {*_STONES, "."}:
        return f"{_SETUP}[{escape(dump(setup_content(saved)))}]"
    lists = ""
    for key, stone in zip(_STONE_LISTS, _STONES, strict=False):
        points = [
            write_point(game, row, col)
            for row, texts_of_row in enumerate(saved.cells)
            for col, text in enumerate(texts_of_row)
            if text == stone
        ]
        lists += key + "".join(f"[{point}]" for point in points) if points else ""
    return f"{lists}PL[{_COLOURS[saved.to_play]}]"


def _read_position(game: Game, nodes: Sequence[Node]) -> tuple[StartingPosition, int]:
    """The position in which the moves begin, and the first node that is not a part of it."""
    root = nodes[0]
    if _SETUP in root:
        return read_setup(parse_json(root[_SETUP][0])), 0
    if game.title() not in KINDS:
        return (None, 0), 0
    count = 0
    while count < len(nodes) and not nodes[count].keys() & set(_COLOURS):
        count += 1
    before = nodes[:count]
    if not any(key in node for node in before for key in _STONE_LISTS):
        to_play = _read_colour(before)
        require(to_play in (None, 0), "white begins, but no stones are set up")
        return (None, 0), count
    cells = [["."] * board_size(game) for _ in range(board_size(game))]
    for node in before:
        for key, stone in zip(_STONE_LISTS, (*_STONES, "."), strict=True):
            for value in node.get(key, []):
                for row, col in read_points(game, value):
                    cells[row][col] = stone
    to_play = _read_colour(before)
    if to_play is None:  # a handicap, then white begins
        to_play = int(root.get("HA", ["0"])[0].strip() not in ("", "0", "1"))
    return (cells, to_play), count


def _read_colour(nodes: Sequence[Node]) -> int | None:
    """Who is to play by the last PL."""
    said = [node["PL"][0].strip()[:1].upper() for node in nodes if "PL" in node]
    if not said:
        return None
    require(said[-1] in ("B", "W", "1", "2"), f"PL must be B or W, not {said[-1]!r}")
    return int(said[-1] in ("W", "2"))


def _result(saved: SavedGame, end: State) -> str:
    if saved.resigned is not None:
        return f"{_COLOURS[1 - saved.resigned]}+R"
    if not end.is_over or len(end.returns) < len(_COLOURS):
        return ""
    return "0" if end.returns[0] == end.returns[1] else f"{_COLOURS[end.returns.argmax()]}+"
