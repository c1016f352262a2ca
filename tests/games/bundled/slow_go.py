"""Go written to be obviously right: whole boards, flood fill, and a list of all positions."""

from typing import NamedTuple

PASS = None


class Position(NamedTuple):
    """A board as a tuple of ".", "x" and "o" from a1 row by row, and all boards up to it."""

    size: int
    board: tuple[str, ...]
    mover: str
    earlier: tuple[tuple[str, ...], ...]  # this one included
    passes: int = 0


def start(size, board=None, mover="x"):
    board = tuple(board or "." * size**2)
    return Position(size, board, mover, (board,))


def neighbours(size, point):
    row, col = divmod(point, size)
    around = ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1))
    return [r * size + c for r, c in around if 0 <= r < size and 0 <= c < size]


def region(size, board, point):
    """The points of one kind connected with this one, and the points around them."""
    inside, around, todo = {point}, set(), [point]
    while todo:
        for near in neighbours(size, todo.pop()):
            if board[near] != board[point]:
                around.add(near)
            elif near not in inside:
                inside.add(near)
                todo.append(near)
    return inside, around


def liberties(size, board, point):
    return {near for near in region(size, board, point)[1] if board[near] == "."}


def board_after(position, point):
    """The board after a stone there; None where that is suicide."""
    board = list(position.board)
    board[point] = position.mover
    for near in neighbours(position.size, point):
        if board[near] not in (".", position.mover) and not liberties(position.size, board, near):
            for stone in region(position.size, board, near)[0]:
                board[stone] = "."
    return tuple(board) if liberties(position.size, board, point) else None


def legal_points(position):
    return [
        point
        for point, stone in enumerate(position.board)
        if stone == "."
        and (after := board_after(position, point)) is not None
        and after not in position.earlier
    ]


def play(position, point):
    other = "o" if position.mover == "x" else "x"
    if point is PASS:
        return position._replace(mover=other, passes=position.passes + 1)
    board = board_after(position, point)
    return Position(position.size, board, other, (*position.earlier, board))


def area_lead(size, board):
    """Black's area less white's."""
    lead = 0
    for point, stone in enumerate(board):
        if stone == ".":
            colours = {board[near] for near in region(size, board, point)[1]}
            stone = colours.pop() if len(colours) == 1 else "."
        lead += {"x": 1, "o": -1, ".": 0}[stone]
    return lead


def is_single_eye(position, point):
    """Whether the mover's stones are all around, with at most one corner lost, at the edge none."""
    size, board = position.size, position.board
    if any(board[near] != position.mover for near in neighbours(size, point)):
        return False
    row, col = divmod(point, size)
    corners = [(row + up, col + right) for up in (-1, 1) for right in (-1, 1)]
    inside = [r * size + c for r, c in corners if 0 <= r < size and 0 <= c < size]
    lost = sum(board[near] not in (".", position.mover) for near in inside)
    return lost + (len(inside) < 4) < 2
