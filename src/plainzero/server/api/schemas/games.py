"""Games, positions and records of games."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from plainzero.server.api.schemas.base import (
    MOST_CELLS,
    MOST_MOVES,
    Action,
    GameName,
    Message,
    OptionValue,
)

Cell = Annotated[str, StringConstraints(max_length=12)]
CellRow = Annotated[list[Cell], Field(max_length=MOST_CELLS)]


class Limits(Message):
    """What one request may ask for at most."""

    simulations: int
    seconds: float
    nodes: int  # of a trace that is kept to look at
    depth: int  # of alpha-beta
    body_bytes: int


class About(Message):
    """The server, and what a page needs to begin."""

    version: str
    limits: Limits
    default_game: str  # name
    default_run: str | None  # to play against
    can_train: bool  # whether runs may be started here
    runs_folder: str  # its name alone
    can_learn: bool  # whether PyTorch is installed


class Health(Message):
    """How busy the server is."""

    started: int  # searches that run or pause
    waiting: int  # for a thread
    kept_traces: int
    kept_bytes: int  # of those


class Parameter(Message):
    """A parameter of a game."""

    name: str
    kind: Literal["int", "float", "bool", "str"]
    default: OptionValue
    choices: list[OptionValue]  # all that it can be; empty: anything of its kind


class GameInfo(Message):
    """A game of the catalogue."""

    name: str
    title: str  # for people: Connect Four
    summary: str  # the first line of its docstring
    parameters: list[Parameter]
    num_players: int
    is_own: bool  # comes from a file that the command line named
    has_shipped: bool  # whether a trained network ships for it: the opponent by default


class Setup(Message):
    """A position made by hand: cells as the game draws them, and who is to play."""

    cells: Annotated[list[CellRow], Field(min_length=1, max_length=MOST_CELLS)]
    to_play: Annotated[int, Field(ge=0, le=15)]


class Position(Message):
    """A position as requests carry it: the game, how it began, and the moves since."""

    game: GameName
    setup: Setup | None = None
    moves: Annotated[list[Action], Field(max_length=MOST_MOVES)] = []


class Move(Message):
    """A move, of a player or of chance."""

    action: int
    name: str
    player: int  # -1: chance


class Place(Message):
    """The place of a cell."""

    row: int
    col: int


class Step(Message):
    """A legal move from one cell to another."""

    action: int
    start: Place
    end: Place


class Caption(Message):
    """Small words at the foot of a cell."""

    row: int
    col: int
    text: str


class Point(Message):
    """A place anywhere on the board; whole numbers are middles of cells."""

    row: float
    col: float


class Shape(Message):
    """Something drawn over the cells, wherever it is."""

    kind: Literal["piece", "ring", "path", "label"]
    points: list[Point]  # of a path many, else of the middle
    player: int  # -1: nobody's
    radius: float  # of a ring, in cells
    text: str  # beside it


class Board(Message):
    """The board as cells, for drawing and clicking. Rows have equal length."""

    layout: Literal["square", "points", "hex", "plane"]
    cells: list[list[str]]  # x, o, z, …: pieces of the players in order
    actions: list[list[int]]  # -1: not clickable
    marks: list[Place]  # what the game points out, e.g. the line that wins
    changed: list[Place]  # by the last move
    last: list[Place]  # where the last move was made, or led from and to; empty: no cell tells
    steps: list[Step]  # moves that take two clicks
    columns: list[str]  # over the columns; empty: the names of moves may tell
    rows: list[str]  # beside the rows
    edges: list[int]  # players of the top, right, bottom and left edge; else empty
    blocks: int  # heavy lines after every so many rows and columns; 0: none
    owners: list[list[int]]  # the player whose each cell is, -1: nobody's; else empty
    captions: list[Caption]
    shapes: list[Shape]


class View(Message):
    """A position as the page shows it."""

    game: str
    setup: Setup | None
    moves: list[Move]  # since it began
    num_players: int
    pieces: list[str]  # the text of each player's piece, where the board has some; else empty
    to_play: int
    turn: int
    is_over: bool
    returns: list[float]  # per player
    board: Board | None
    text: str
    legal: list[Move]
    has_chance: bool  # whether dice, cards or the like ever move
    has_perfect: bool
    has_threats: bool  # whether a player knows the shapes of this game
    has_shipped: bool  # whether a trained network ships for this game, and can be used here
    can_set_up: bool


class PlayRequest(Message):
    """A move to make, by number or by name; chance moves by itself afterwards."""

    position: Position
    action: Action | None = None
    name: Annotated[str, StringConstraints(max_length=40)] | None = None


class SetupOptions(Message):
    """What can stand in a cell, to set up a position by hand."""

    view: View  # the beginning of the game
    pieces: list[str]  # all texts that cells can have
    can_set_up: bool


class ExportRequest(Message):
    """A game to save; resigned says who gave up."""

    position: Position
    format: Literal["json", "sgf"]
    players: Annotated[list[Annotated[str, StringConstraints(max_length=80)]], Field(max_length=16)]
    resigned: Annotated[int, Field(ge=0, le=15)] | None = None


class ExportedGame(Message):
    """A saved game."""

    file_name: str
    content: str


class ImportRequest(Message):
    """A saved game, as JSON or SGF, told apart by how it begins."""

    content: Annotated[str, StringConstraints(max_length=200_000)]


class ImportedGame(Message):
    """A game that was read."""

    view: View
    players: list[str]
    resigned: int | None
