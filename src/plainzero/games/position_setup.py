"""Positions set up by hand, from cells as a game's `view` draws them.

A game may fill in its state itself, in `set_up`. If it does not, its drawing is inverted, see
`cells_to_state.py`.
"""

import functools
import itertools
from collections.abc import Iterator

import numpy as np

from plainzero.games.cells_to_state import Cells, draw_back, drawn_cells, find_drawing, play_trial
from plainzero.games.contract import EMPTY, PIECES, Game, Grid, State

_TRIAL_GAMES = 3
_TRIAL_PLIES = 1500  # in all games: the end may show texts that the start does not
_TRIAL_VIEWS = 50
_TRIAL_CELLS = 6
_TRIAL_CELLS_PLAYED = 1_500_000  # in all plies: the largest boards take two seconds
_LAST_MOVE_CELLS = 800_000  # drawn to try all last moves: two seconds at most
_TILES = [str(number) for number in (*range(10), *(2**exponent for exponent in range(4, 18)))]


def can_set_up(game: Game) -> bool:
    """Whether positions of this game can be set up by hand."""
    is_drawn = bool(_first_grid(game).cells)
    return is_drawn and (_fills_in_itself(game) or find_drawing(game) is not None)


def set_up_position(game: Game, cells: Cells, to_play: int) -> State:
    """The position that is drawn as `cells`; over if a last move can have ended it.

    `turn` is the number of cells that differ from the starting position, unless the game's own
    `set_up` writes it.

    Raises:
        ValueError: if there is no such position; the message says why.
    """
    if not can_set_up(game):
        raise ValueError(
            f"{game.name} cannot be set up by hand: its board does not show the whole position, "
            "and it has no set_up(state, cells) method"
        )
    _check_form(game, cells, to_play)
    state = _fill_in(game, cells, to_play)
    _check_drawn_alike(game, state, cells)
    if state.is_over:
        return state
    finished = None if _knows_the_end(game) else _find_end(game, cells, to_play)
    if finished is None and not game.legal(state):
        raise ValueError(
            f"player {to_play + 1} of {game.num_players} has no legal move in this position, and "
            "no last move that would have ended the game"
        )
    return state if finished is None else finished


def cell_texts(game: Game) -> list[str]:
    """The texts that a cell can have in a position set up by hand, the empty one first.

    For a game that fills in its state itself: the texts of the cells that change in a few random
    games, and those of the players' pieces and the usual tiles that it accepts on an empty board.
    """
    if not can_set_up(game):
        return []
    drawing = None if _fills_in_itself(game) else find_drawing(game)
    texts = _accepted_texts(game) if drawing is None else drawing.values
    return sorted(texts, key=_palette_order)


def _fills_in_itself(game: Game) -> bool:
    return type(game).set_up is not Game.set_up


def _knows_the_end(game: Game) -> bool:
    """Whether the game's own `set_up` has ended every position that is over."""
    return _fills_in_itself(game) and game.set_up_knows_the_end


def _check_form(game: Game, cells: Cells, to_play: int) -> None:
    """Refuses a board of another size, and an unknown player."""
    first = _first_grid(game).cells
    wanted, given = _describe_form(first), _describe_form(cells)
    if given != wanted:
        raise ValueError(f"the board of {game.name} has {wanted} cells, not {given}")
    if to_play not in range(game.num_players):
        raise ValueError(f"to_play must be 0 to {game.num_players - 1}, not {to_play!r}")


@functools.lru_cache(maxsize=64)
def _first_grid(game: Game) -> Grid:
    """The board of the starting position; its lists must not be changed."""
    return game.view(game.new_state()) or Grid([], [])


def _describe_form(cells: Cells) -> str:
    widths = sorted({len(row) for row in cells})
    return f"{len(cells)} rows of {' and '.join(map(str, widths)) or 0}"


def _fill_in(game: Game, cells: Cells, to_play: int) -> State:
    """The state behind the cells, from the game or its drawing; not yet compared with them."""
    drawing = None if _fills_in_itself(game) else find_drawing(game)
    if drawing is None:
        state: State = np.zeros(1, game.dtype)[0]
        state.to_play = to_play
        try:
            game.set_up(state, cells)
        except (LookupError, OverflowError, TypeError) as error:
            raise ValueError(f"{game.name} cannot be set up like this: {error}") from error
    else:
        state = draw_back(game, drawing, cells)
        state.to_play = to_play
    if state.turn == 0:
        first = _first_grid(game).cells
        pairs = zip(itertools.chain(*cells), itertools.chain(*first), strict=True)
        last = game.max_turns if state.is_over else game.max_turns - 1
        state.turn = min(sum(text != before for text, before in pairs), last)
    return state


def _check_drawn_alike(game: Game, state: State, cells: Cells) -> None:
    drawn = drawn_cells(game, state)
    for row, col in np.ndindex(len(cells), len(cells[0])):
        if cells[row][col] != drawn[row][col]:
            raise ValueError(
                f"the cell in row {row + 1}, column {col + 1} cannot hold {cells[row][col]!r}; "
                f"{game.name} would draw {drawn[row][col]!r} there"
            )


def _find_end(game: Game, cells: Cells, to_play: int) -> State | None:
    """The finished position, if some move can have led to these cells and ended the game.

    Each cell is emptied and played again. The player before `to_play` should have moved last, but
    the others are tried too, since a win counts whoever moved. A win takes precedence over a draw,
    since a full board is a draw only without one.
    """
    grid = _first_grid(game)
    places = [
        (row, col)
        for row, col in np.ndindex(len(cells), len(cells[0]))
        if grid.actions[row][col] >= 0 and cells[row][col] != grid.cells[row][col]
    ]
    _check_effort(game, cells, len(places))
    drawn = None
    for before_mover in range(1, game.num_players + 1):
        player = (to_play - before_mover) % game.num_players
        for row, col in places:
            emptied = [list(texts) for texts in cells]
            emptied[row][col] = grid.cells[row][col]
            end = _play_last_move(game, emptied, player, grid.actions[row][col])
            if end is None or drawn_cells(game, end) != cells:
                continue
            if end.returns.any():
                return end
            drawn = end if drawn is None else drawn
    return drawn


def _check_effort(game: Game, cells: Cells, num_places: int) -> None:
    """Refuses more last moves than can be tried in reasonable time."""
    most = _LAST_MOVE_CELLS // (len(cells) * len(cells[0]) * game.num_players)
    if num_places > most:
        raise ValueError(
            f"on the board of {game.name}, at most {most} moves can be set up, not {num_places}: "
            "each is tried as the last one, to see whether it ended the game"
        )


def _play_last_move(game: Game, cells: Cells, player: int, action: int) -> State | None:
    """The finished position after that move; None if it is illegal or does not end the game."""
    try:
        state = _fill_in(game, cells, player)
        game.apply(state, action)
    except ValueError:  # also an IllegalMove
        return None
    return state if state.is_over else None


@functools.lru_cache(maxsize=64)
def _accepted_texts(game: Game) -> tuple[str, ...]:
    first = _first_grid(game).cells
    texts: dict[str, None] = {}  # in the order of appearance
    changed: dict[tuple[int, int], None] = {}
    for cells in _trial_boards(game):
        for row, col in np.ndindex(len(cells), len(cells[0])):
            if cells[row][col] != first[row][col]:
                changed[row, col] = None
                texts |= dict.fromkeys((first[row][col], cells[row][col]))
    has_tiles = any(text.isdecimal() for text in texts)
    for text in (*PIECES[: game.num_players], *(_TILES if has_tiles else ())):
        if any(_is_accepted(game, first, place, text) for place in [*changed][:_TRIAL_CELLS]):
            texts[text] = None
    return tuple(texts)


def _trial_boards(game: Game) -> Iterator[Cells]:
    """Unfinished boards of a few random games, including the last of each game."""
    first = _first_grid(game).cells
    plies = min(_TRIAL_PLIES, _TRIAL_CELLS_PLAYED // (len(first) * len(first[0])))
    for seed in range(_TRIAL_GAMES):
        states, actions = play_trial(game, seed, plies)
        plies -= len(actions)
        unfinished = [state for state in states if not state.is_over]
        for state in (*unfinished[:: len(unfinished) // _TRIAL_VIEWS + 1], *unfinished[-1:]):
            yield drawn_cells(game, state)


def _is_accepted(game: Game, first: Cells, place: tuple[int, int], text: str) -> bool:
    cells = [list(texts) for texts in first]
    cells[place[0]][place[1]] = text
    try:
        return drawn_cells(game, _fill_in(game, cells, 0)) == cells
    except ValueError:
        return False


def _palette_order(text: str) -> tuple[int, int]:
    if text in EMPTY:
        return 0, 0
    if text in PIECES:
        return 1, PIECES.index(text)
    return (3, int(text)) if text.isdecimal() else (2, 0)
