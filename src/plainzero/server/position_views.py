"""Converts the positions of requests to states, and states to what the page shows."""

import hashlib
import random
import threading
from collections import OrderedDict
from typing import Any

from plainzero.games.board_view import Shape
from plainzero.games.contract import CHANCE, PIECES, Game, Grid, IllegalMove, has_chance
from plainzero.games.formats.replay_moves import move_name
from plainzero.games.position_setup import can_set_up, cell_texts, set_up_position
from plainzero.opponents.bundled_networks import has_bundled_network
from plainzero.opponents.gomoku_evaluator import has_threats
from plainzero.opponents.perfect import has_perfect
from plainzero.server.api.errors import explaining_rule_errors
from plainzero.server.api.schemas import games as messages
from plainzero.server.game_catalogue import Catalogue

_CACHE_BYTES = 32 << 20  # so that a long game is not replayed from its start at every move
_ENTRY_BYTES = 600  # overhead of a cached state
_MAX_CELLS = 64 * 64
_MAX_LISTED = 20  # legal actions in an error message


class Positions:
    """States and views of the catalogue's games. Thread-safe."""

    def __init__(self, catalogue: Catalogue) -> None:
        """For the games of a catalogue."""
        self.catalogue = catalogue
        self._cache = StateCache(_CACHE_BYTES)
        self._chance = random.Random()

    def game_and_state(self, position: messages.Position) -> tuple[Game, Any]:
        """The game, and a state that the caller may change.

        Raises:
            ValueError: says which move is illegal, and why.
        """
        game = self.catalogue.game(position.game)
        with explaining_rule_errors(game):
            return game, self._replay(game, position, len(position.moves))

    def view(self, position: messages.Position) -> messages.View:
        """The position as the page shows it."""
        game, state = self.game_and_state(position)
        with explaining_rule_errors(game):
            return self._view(game, state, position)

    def play(self, request: messages.PlayRequest) -> messages.View:
        """The position after a move and the chance moves that follow it.

        Raises:
            ValueError: if the move is illegal or missing.
        """
        position = request.position
        game, state = self.game_and_state(position)
        with explaining_rule_errors(game):
            actions = self._play(game, state, request)
        moves = [*position.moves, *actions]
        return self.view(messages.Position(game=position.game, setup=position.setup, moves=moves))

    def setup_options(self, name: str) -> messages.SetupOptions:
        """What the cells of a game's board can contain."""
        game, view = self.catalogue.game(name), self.view(messages.Position(game=name))
        with explaining_rule_errors(game):
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
            has_bundled_network=has_bundled_network(game),
            can_set_up=can_set_up(game),
        )

    def _play(self, game: Game, state: Any, request: messages.PlayRequest) -> list[int]:
        """Plays the requested move, if any, and the chance moves after it; returns them all."""
        actions = [self._action(game, state, request)] if _has_move(request, state) else []
        for action in actions:
            _apply(game, state, action)
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
            raise IllegalMove(f"{request.name!r} is not legal; legal moves: {' '.join(names)}")
        return names[name]

    def _replay(self, game: Game, position: messages.Position, count: int) -> Any:
        """A copy of the state after the first `count` moves."""
        moves = position.moves[:count]
        found = self._cache.get(_key(game, position, moves))
        if found is not None:
            return game.copy(found)
        before = self._cache.get(_key(game, position, moves[:-1])) if moves else None
        if before is not None:
            state, number = game.copy(before), count - 1
        elif moves:
            state, number = self._replay(game, position, 0), 0
        else:
            state, number = self._first_state(game, position), 0
        for action in moves[number:]:
            number += 1
            try:
                _apply(game, state, action)
            except IllegalMove as error:
                raise IllegalMove(f"move {number}: {error}") from None
        self._cache.put(_key(game, position, moves), game.copy(state))
        return state

    def _first_state(self, game: Game, position: messages.Position) -> Any:
        if position.setup is None:
            return game.new_state()
        if position.setup.to_play >= game.num_players:
            raise ValueError(
                f"player {position.setup.to_play + 1} is to move, but {game.name} has "
                f"{game.num_players} players"
            )
        return set_up_position(game, position.setup.cells, position.setup.to_play)

    def _name_moves(self, game: Game, position: messages.Position) -> list[messages.Move]:
        state, moves = self._replay(game, position, 0), []
        for action in position.moves:  # they were legal when `game_and_state` played them
            moves.append(name_move(game, state, action))
            game.play(state, action)
            state.turn += 1
        return moves


class StateCache:
    """States by key, within a number of bytes; the least recently used are dropped."""

    def __init__(self, max_bytes: int) -> None:
        """An empty cache."""
        self._states: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = threading.Lock()
        self._max_bytes = max_bytes
        self.nbytes = 0

    def get(self, key: bytes) -> Any:
        """The cached state, which must not be changed; None if there is none."""
        with self._lock:
            if key in self._states:
                self._states.move_to_end(key)
            return self._states.get(key)

    def put(self, key: bytes, state: Any) -> None:
        """Adds a state, and drops others if needed."""
        with self._lock:
            if key not in self._states:
                self.nbytes += state.nbytes + _ENTRY_BYTES
            self._states[key] = state
            while self.nbytes > self._max_bytes:
                _, dropped = self._states.popitem(last=False)
                self.nbytes -= dropped.nbytes + _ENTRY_BYTES


def legal_moves(game: Game, state: Any) -> list[messages.Move]:
    """The legal moves with their names; empty at chance nodes."""
    if state.to_play == CHANCE:
        return []
    return [name_move(game, state, action) for action in sorted(game.legal(state))]


def name_move(game: Game, state: Any, action: int) -> messages.Move:
    """A move or chance outcome with its name and player."""
    player = int(state.to_play)
    return messages.Move(action=action, name=move_name(game, player, action), player=player)


def make_board(
    game: Game, state: Any, before: Any, move: messages.Move | None
) -> messages.Board | None:
    """The board to draw, with the changes of the last move; None if the game has no view."""
    grid = game.view(state)
    if grid is None or len(grid.cells) * len(grid.cells[0]) > _MAX_CELLS:
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
    """Both cells of a step, or the cell of the played action if it is occupied."""
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
    """The cells whose content is new."""
    return [
        messages.Place(row=row, col=col)
        for row, (cells, old_cells) in enumerate(zip(grid.cells, earlier.cells, strict=True))
        for col, (cell, old_cell) in enumerate(zip(cells, old_cells, strict=True))
        if cell != old_cell and cell.strip(" .")
    ]


def _pieces(game: Game, state: Any) -> list[str]:
    """The players' pieces as texts, if the game draws them."""
    grid = game.view(state)
    if grid is None or game.num_players > len(PIECES):
        return []
    return list(PIECES[: game.num_players])


def _has_move(request: messages.PlayRequest, state: Any) -> bool:
    """Whether the request has a move; without one, only chance moves.

    Raises:
        ValueError: if it has none although a player is to move.
    """
    if request.action is not None or request.name is not None:
        return True
    if state.to_play == CHANCE and not state.is_over:
        return False
    raise ValueError("the request has no move; give its name or its action")


def _key(game: Game, position: messages.Position, moves: list[int]) -> bytes:
    """The cache key of a state, equally short for long games."""
    setup = position.setup and position.setup.model_dump_json()
    return hashlib.sha256(repr((game.tag, setup, moves)).encode()).digest()


def _apply(game: Game, state: Any, action: int) -> None:
    """Plays an action.

    Raises:
        IllegalMove: lists the legal actions by number, as requests give them.
    """
    if state.is_over:
        raise IllegalMove(f"action {action} cannot be played: the game is over")
    legal = sorted(game.legal(state))
    if action not in legal:
        some = ", ".join(map(str, legal[:_MAX_LISTED]))
        more = ", …" if len(legal) > _MAX_LISTED else ""
        raise IllegalMove(f"action {action} is not legal; legal actions: {some}{more}")
    game.apply(state, action)
