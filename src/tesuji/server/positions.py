"""Positions: from what a request carries to a state, and from a state to what the page shows."""

import random
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from tesuji.games.contract import CHANCE, PIECES, Game, Grid, IllegalMove
from tesuji.games.setting_up import can_set_up, cell_texts, set_up
from tesuji.opponents.perfect import has_perfect
from tesuji.search.config import has_chance
from tesuji.server.catalogue import Catalogue
from tesuji.server.messages import games as messages

_KEPT = 2000  # states, so that a long game is not replayed from its beginning at every move
_MOST_CELLS = 64 * 64


class Positions:
    """Makes states and views of the catalogue's games; safe for many threads."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Over the games of a catalogue."""
        self.catalogue = catalogue
        self._kept: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()
        self._chance = random.Random()

    def game_and_state(self, position: messages.Position) -> tuple[Game, Any]:
        """The game and a state of one's own.

        Raises:
            ValueError: says which move is wrong, and why.
        """
        game = self.catalogue.game(position.game)
        return game, self._replay(game, position, len(position.moves))

    def view(self, position: messages.Position) -> messages.View:
        """The position as the page shows it."""
        game, state = self.game_and_state(position)
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
            board=make_board(game, state, before),
            text=game.text(state),
            legal=legal_moves(game, state),
            has_chance=has_chance(game),
            has_perfect=has_perfect(game),
            can_set_up=can_set_up(game),
        )

    def play(self, request: messages.PlayRequest) -> messages.View:
        """The position after a move, and after what chance made of it.

        Raises:
            ValueError: for a move that is not legal, or that nobody named.
        """
        position = request.position
        game, state = self.game_and_state(position)
        actions = [self._action(game, state, request)] if _is_asked(request, state) else []
        for action in actions:
            game.apply(state, action)
        while state.to_play == CHANCE and not state.is_over:
            outcomes, weights = zip(*game.chances(state), strict=True)
            actions.append(self._chance.choices(outcomes, weights)[0])
            game.apply(state, actions[-1])
        moves = [*position.moves, *actions]
        return self.view(messages.Position(game=position.game, setup=position.setup, moves=moves))

    def setup_options(self, name: str) -> messages.SetupOptions:
        """What can stand in the cells of a game's board."""
        game = self.catalogue.game(name)
        able = can_set_up(game)
        return messages.SetupOptions(
            view=self.view(messages.Position(game=name)),
            pieces=cell_texts(game) if able else [],
            can_set_up=able,
        )

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
        key = (position.game, _setup_key(position.setup), tuple(position.moves[:count]))
        with self._lock:
            found = self._kept.get(key)
            before = self._kept.get((*key[:2], key[2][:-1])) if found is None else None
        if found is None:
            if before is not None:
                found = game.copy(before)
                _apply(game, found, position.moves[count - 1], count)
            else:
                found = self._first_state(game, position)
                for number, action in enumerate(position.moves[:count], 1):
                    _apply(game, found, action, number)
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return game.copy(found)

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
        state, moves = self._first_state(game, position), []
        for action in position.moves:  # they were legal when `game_and_state` played them
            moves.append(name_move(game, state, action))
            game.play(state, action)
            state.turn += 1
        return moves


def legal_moves(game: Game, state: Any) -> list[messages.Move]:
    """The legal moves with their names; none where chance decides."""
    if state.to_play == CHANCE:
        return []
    return [name_move(game, state, action) for action in sorted(game.legal(state))]


def name_move(game: Game, state: Any, action: int) -> messages.Move:
    """A move or an outcome of chance as people call it."""
    is_outcome = state.to_play == CHANCE
    name = game.outcome_name(action) if is_outcome else game.action_name(action)
    return messages.Move(action=action, name=name, player=int(state.to_play))


def name_variation(game: Game, state: Any, actions: Sequence[int]) -> list[messages.Move]:
    """A line of moves from a position, with names."""
    state, moves = game.copy(state), []
    for action in actions:
        moves.append(name_move(game, state, int(action)))
        game.apply(state, int(action))
    return moves


def make_board(game: Game, state: Any, before: Any) -> messages.Board | None:
    """The board to draw, with what changed since the position before; None without a view."""
    grid = game.view(state)
    if grid is None or len(grid.cells) * len(grid.cells[0]) > _MOST_CELLS:
        return None
    earlier = game.view(before) if before is not None else None
    return messages.Board(
        layout=grid.layout,
        cells=grid.cells,
        actions=[[int(action) for action in row] for row in grid.actions],
        marks=[messages.Place(row=int(row), col=int(col)) for row, col in grid.marks],
        changed=_changes(grid, earlier) if earlier is not None else [],
    )


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


def _setup_key(setup: messages.Setup | None) -> Any:
    return setup and (setup.to_play, tuple(tuple(row) for row in setup.cells))


def _apply(game: Game, state: Any, action: int, number: int) -> None:
    try:
        game.apply(state, action)
    except IllegalMove as error:
        raise IllegalMove(f"move {number}: {error}") from None
