"""Positions: from what a request carries to a state, and from a state to what the page shows."""

import hashlib
import random
import threading
from collections import OrderedDict
from typing import Any

from plainzero.games.board_view import Shape
from plainzero.games.contract import CHANCE, PIECES, Game, Grid, IllegalMove, has_chance
from plainzero.games.formats.replay_moves import move_name
from plainzero.games.position_setup import can_set_up, cell_texts, set_up
from plainzero.opponents.bundled_networks import has_shipped
from plainzero.opponents.gomoku_evaluator_kernels import has_threats
from plainzero.opponents.perfect import has_perfect
from plainzero.server.api.errors import telling_rule_faults
from plainzero.server.api.schemas import games as messages
from plainzero.server.game_catalogue import Catalogue

_KEPT_BYTES = 32 << 20  # of states, so that no long game is replayed from its start at every move
_ENTRY_BYTES = 600  # that keeping a state takes besides its own
_MOST_CELLS = 64 * 64


class Positions:
    """Makes states and views of the catalogue's games; safe for many threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Over the games of a catalogue."""
        self.catalogue = catalogue
        self._kept = KeptStates(_KEPT_BYTES)
        self._chance = random.Random()

    def game_and_state(self, position: messages.Position) -> tuple[Game, Any]:
        """The game and a state of one's own.

        Raises:
            ValueError: says which move is wrong, and why.
        """
        game = self.catalogue.game(position.game)
        with telling_rule_faults(game):
            return game, self._replay(game, position, len(position.moves))

    def view(self, position: messages.Position) -> messages.View:
        """The position as the page shows it."""
        game, state = self.game_and_state(position)
        with telling_rule_faults(game):
            return self._view(game, state, position)

    def play(self, request: messages.PlayRequest) -> messages.View:
        """The position after a move, and after what chance made of it.

        Raises:
            ValueError: for a move that is not legal, or that nobody named.
        """
        position = request.position
        game, state = self.game_and_state(position)
        with telling_rule_faults(game):
            actions = self._play(game, state, request)
        moves = [*position.moves, *actions]
        return self.view(messages.Position(game=position.game, setup=position.setup, moves=moves))

    def setup_options(self, name: str) -> messages.SetupOptions:
        """What can stand in the cells of a game's board."""
        game, view = self.catalogue.game(name), self.view(messages.Position(game=name))
        with telling_rule_faults(game):
            pieces = cell_texts(game) if view.can_set_up else []
        return messages.SetupOptions(view=view, pieces=pieces, can_set_up=view.can_set_up)

    def _view(self, game: Game, state: Any, position: messages.Position) -> messages.View:
        moves = self._name_moves(game, position)
        before = self._replay(game, position, len(moves) - 1) if moves else None
        return messages.View(
            game=self.catalogue.name_of(position.game, game),
            setup=position.setup,
            moves=moves,
            num_players=game.num_players,
            pieces=_pieces(game, state),
            to_play=int(state.to_play),
            turn=int(state.turn),
            is_over=bool(state.is_over),
            returns=[float(value) for value in state.returns],
            board=make_board(game, state, before, moves[-1] if moves else None),
            text=game.text(state),
            legal=legal_moves(game, state),
            has_chance=has_chance(game),
            has_perfect=has_perfect(game),
            has_threats=has_threats(game),
            has_shipped=has_shipped(game),
            can_set_up=can_set_up(game),
        )

    def _play(self, game: Game, state: Any, request: messages.PlayRequest) -> list[int]:
        """Makes the move that was asked for, and chance's moves after it; returns them all."""
        actions = [self._action(game, state, request)] if _is_asked(request, state) else []
        for action in actions:
            game.apply(state, action)
        while state.to_play == CHANCE and not state.is_over:
            outcomes, weights = zip(*game.chances(state), strict=True)
            actions.append(self._chance.choices(outcomes, weights)[0])
            game.apply(state, actions[-1])
        return actions

    def _action(self, game: Game, state: Any, request: messages.PlayRequest) -> int:
        if request.action is not None:
            return request.action
        names = {move.name.lower(): move.action for move in legal_moves(game, state)}
        name = (request.name or "").strip().lower()
        if name not in names:
            raise IllegalMove(f"{request.name!r} is not legal here; legal moves: {' '.join(names)}")
        return names[name]

    def _replay(self, game: Game, position: messages.Position, count: int) -> Any:
        """A copy of the state after the first `count` moves."""
        moves = position.moves[:count]
        found = self._kept.get(_key(game, position, moves))
        if found is not None:
            return game.copy(found)
        before = self._kept.get(_key(game, position, moves[:-1])) if moves else None
        if before is not None:
            state, number = game.copy(before), count - 1
        elif moves:
            state, number = self._replay(game, position, 0), 0
        else:
            state, number = self._first_state(game, position), 0
        for action in moves[number:]:
            number += 1
            _apply(game, state, action, number)
        self._kept.put(_key(game, position, moves), game.copy(state))
        return state

    def _first_state(self, game: Game, position: messages.Position) -> Any:
        if position.setup is None:
            return game.new_state()
        if position.setup.to_play >= game.num_players:
            raise ValueError(
                f"player {position.setup.to_play + 1} is to play, but {game.name} has "
                f"{game.num_players}"
            )
        return set_up(game, position.setup.cells, position.setup.to_play)

    def _name_moves(self, game: Game, position: messages.Position) -> list[messages.Move]:
        state, moves = self._replay(game, position, 0), []
        for action in position.moves:  # they were legal when `game_and_state` played them
            moves.append(name_move(game, state, action))
            game.play(state, action)
            state.turn += 1
        return moves


class KeptStates:
    """States by key, within a number of bytes; those asked for longest ago go first."""

    def __init__(self, most_bytes: int) -> None:
        """Nothing kept yet."""
        self._states: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = threading.Lock()
        self._most_bytes = most_bytes
        self.nbytes = 0

    def get(self, key: bytes) -> Any:
        """The state itself, which nobody may change; None where it is not kept."""
        with self._lock:
            if key in self._states:
                self._states.move_to_end(key)
            return self._states.get(key)

    def put(self, key: bytes, state: Any) -> None:
        """Keeps a state, and forgets others for it."""
        with self._lock:
            if key not in self._states:
                self.nbytes += state.nbytes + _ENTRY_BYTES
            self._states[key] = state
            while self.nbytes > self._most_bytes:
                _, forgotten = self._states.popitem(last=False)
                self.nbytes -= forgotten.nbytes + _ENTRY_BYTES


def legal_moves(game: Game, state: Any) -> list[messages.Move]:
    """The legal moves with their names; none where chance decides."""
    if state.to_play == CHANCE:
        return []
    return [name_move(game, state, action) for action in sorted(game.legal(state))]


def name_move(game: Game, state: Any, action: int) -> messages.Move:
    """A move or an outcome of chance as people call it."""
    player = int(state.to_play)
    return messages.Move(action=action, name=move_name(game, player, action), player=player)


def make_board(
    game: Game, state: Any, before: Any, move: messages.Move | None
) -> messages.Board | None:
    """The board to draw, with what the last move made of the one before; None without a view."""
    grid = game.view(state)
    if grid is None or len(grid.cells) * len(grid.cells[0]) > _MOST_CELLS:
        return None
    earlier = game.view(before) if before is not None else None
    return messages.Board(
        layout=grid.layout,
        cells=grid.cells,
        actions=[[int(action) for action in row] for row in grid.actions],
        marks=[_place(mark) for mark in grid.marks],
        changed=_changes(grid, earlier) if earlier is not None else [],
        last=_last(grid, earlier, move) if earlier is not None and move is not None else [],
        steps=[
            messages.Step(action=int(step.action), start=_place(step.start), end=_place(step.end))
            for step in grid.steps
        ],
        columns=list(grid.columns),
        rows=list(grid.rows),
        edges=list(grid.edges),
        blocks=grid.blocks,
        owners=[[int(owner) for owner in row] for row in grid.owners],
        captions=[messages.Caption(**caption._asdict()) for caption in grid.captions],
        shapes=[_shape(shape) for shape in grid.shapes],
    )


def _place(place: tuple[int, int]) -> messages.Place:
    return messages.Place(row=int(place[0]), col=int(place[1]))


def _shape(shape: Shape) -> messages.Shape:
    points = [messages.Point(row=float(row), col=float(col)) for row, col in shape.points]
    return messages.Shape(**(shape._asdict() | {"points": points}))


def _last(grid: Grid, earlier: Grid, move: messages.Move) -> list[messages.Place]:
    """The two cells of a step, or the one cell whose action was played if something is there."""
    if move.player == CHANCE:
        return []
    for step in earlier.steps:
        if step.action == move.action:
            return [_place(step.start), _place(step.end)]
    places = [
        messages.Place(row=row, col=col)
        for row, actions in enumerate(earlier.actions)
        for col, other in enumerate(actions)
        if other == move.action
    ]
    is_there = len(places) == 1 and grid.cells[places[0].row][places[0].col].strip(" .")
    return places if is_there else []


def _changes(grid: Grid, earlier: Grid) -> list[messages.Place]:
    """The cells that hold something now which they did not hold before."""
    return [
        messages.Place(row=row, col=col)
        for row, (cells, old_cells) in enumerate(zip(grid.cells, earlier.cells, strict=True))
        for col, (cell, old_cell) in enumerate(zip(cells, old_cells, strict=True))
        if cell != old_cell and cell.strip(" .")
    ]


def _pieces(game: Game, state: Any) -> list[str]:
    """The texts of the players' pieces, where the game draws such; else none."""
    grid = game.view(state)
    if grid is None or game.num_players > len(PIECES):
        return []
    return list(PIECES[: game.num_players])


def _is_asked(request: messages.PlayRequest, state: Any) -> bool:
    """Whether a move is to be made; without one, only chance moves.

    Raises:
        ValueError: when neither is there.
    """
    if request.action is not None or request.name is not None:
        return True
    if state.to_play == CHANCE and not state.is_over:
        return False
    raise ValueError("no move was given; name one, or give its action")


def _key(game: Game, position: messages.Position, moves: list[int]) -> bytes:
    """Names a state in few bytes, however long its game."""
    setup = position.setup and position.setup.model_dump_json()
    return hashlib.sha256(repr((game.tag, setup, moves)).encode()).digest()


def _apply(game: Game, state: Any, action: int, number: int) -> None:
    try:
        game.apply(state, action)
    except IllegalMove as error:
        raise IllegalMove(f"move {number}: {error}") from None
