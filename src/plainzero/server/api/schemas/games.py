"""Games, positions, and saved games."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from plainzero.server.api.schemas.base import (
    MAX_CELLS,
    MAX_MOVES,
    Action,
    GameName,
    Message,
    OptionValue,
)

Cell = Annotated[str, StringConstraints(max_length=12)]
CellRow = Annotated[list[Cell], Field(max_length=MAX_CELLS)]


class Limits(Message):
    """The limits of one request."""

    simulations: int
    seconds: float
    nodes: int  # of a trace
    depth: int  # of alpha-beta
    body_bytes: int


class About(Message):
    """The server, and what the page shows first."""

    version: str
    limits: Limits
    default_game: str  # name
    default_run: str | None  # opponent
    can_train: bool  # whether clients may start runs
    runs_folder: str  # name, without its path
    can_learn: bool  # whether PyTorch is installed


class Health(Message):
    """The server's load."""

    started: int  # searches with a thread
    waiting: int  # searches waiting for a thread
    cached_traces: int
    cached_bytes: int  # of those traces


class Parameter(Message):
    """A parameter of a game."""

    name: str
    kind: Literal["int", "float", "bool", "str"]
    default: OptionValue
    choices: list[OptionValue]  # allowed values; empty: any of its kind


class GameInfo(Message):
    """A game in the catalogue."""

    name: str
    title: str  # display name: Connect Four
    summary: str  # the first line of its docstring
    parameters: list[Parameter]
    num_players: int
    is_own: bool  # whether it comes from a file named on the command line
    has_bundled_network: bool  # the default opponent, if any


class Setup(Message):
    """A position set up by hand: cells as the game draws them, and the player to move."""

    cells: Annotated[list[CellRow], Field(min_length=1, max_length=MAX_CELLS)]
    to_play: Annotated[int, Field(ge=0, le=15)]


class Position(Message):
    """A position: the game, its setup if not the initial position, and the moves since."""

    game: GameName
    setup: Setup | None = None
    moves: Annotated[list[Action], Field(max_length=MAX_MOVES)] = []


class Move(Message):
    """A move of a player or of chance."""

    action: int
    name: str
    player: int  # -1: chance


class Place(Message):
    """The coordinates of a cell."""

    row: int
    col: int


class Step(Message):
    """A legal move from one cell to another."""

    action: int
    start: Place
    end: Place


class Caption(Message):
    """Small text at the bottom of a cell."""

    row: int
    col: int
    text: str


class Point(Message):
    """A point on the board; integers are the centres of cells."""

    row: float
    col: float


class Shape(Message):
    """A shape drawn over the cells."""

    kind: Literal["piece", "ring", "path", "label"]
    points: list[Point]  # of a path; otherwise its centre
    player: int  # -1: none
    radius: float  # of a ring, in cells
    text: str  # beside it


class Board(Message):
    """The board as a grid of cells. All rows have equal length."""

    layout: Literal["square", "points", "hex", "plane"]
    cells: list[list[str]]  # x, o, z, …: the players' pieces, in order
    actions: list[list[int]]  # -1: not clickable
    marks: list[Place]  # highlighted by the game, e.g. the winning line
    changed: list[Place]  # by the last move
    last: list[Place]  # the cell of the last move, or its start and end; may be empty
    steps: list[Step]  # moves that take two clicks
    columns: list[str]  # labels; may be empty
    rows: list[str]  # labels; may be empty
    edges: list[int]  # owners of the top, right, bottom and left edge; may be empty
    blocks: int  # rows and columns between heavy lines; 0: none
    owners: list[list[int]]  # of each cell, -1: none; may be empty
    captions: list[Caption]
    shapes: list[Shape]


class View(Message):
    """A position as the page shows it."""

    game: str
    setup: Setup | None
    moves: list[Move]  # since the setup
    num_players: int
    pieces: list[str]  # of each player, as in the cells; may be empty
    to_play: int
    turn: int
    is_over: bool
    returns: list[float]  # per player
    board: Board | None
    text: str
    legal: list[Move]
    has_chance: bool  # whether it has chance moves, such as dice
    has_perfect: bool  # whether it has a solver
    has_threats: bool  # whether the `threats` evaluator knows it
    has_bundled_network: bool  # that can be used here
    can_set_up: bool


class PlayRequest(Message):
    """A move to play, by number or by name. Chance moves that follow are drawn at random."""

    position: Position
    action: Action | None = None
    name: Annotated[str, StringConstraints(max_length=40)] | None = None


class SetupOptions(Message):
    """What a cell can contain when a position is set up by hand."""

    view: View  # of the initial position
    pieces: list[str]  # possible contents of a cell
    can_set_up: bool


class ExportRequest(Message):
    """A game to save; `resigned` is the player who resigned, if any."""

    position: Position
    format: Literal["json", "sgf"]
    players: Annotated[list[Annotated[str, StringConstraints(max_length=80)]], Field(max_length=16)]
    resigned: Annotated[int, Field(ge=0, le=15)] | None = None


class ExportedGame(Message):
    """A saved game."""

    file_name: str
    content: str


class ImportRequest(Message):
    """A saved game as JSON or SGF; the format is detected."""

    content: Annotated[str, StringConstraints(max_length=200_000)]


class ImportedGame(Message):
    """The imported game."""

    view: View
    players: list[str]
    resigned: int | None
