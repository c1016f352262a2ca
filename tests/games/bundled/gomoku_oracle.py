"""Gomoku, slow and written to be obviously right: every question examines the whole board.

Forbidden points follow the definitions of renju word by word, by recursion without a limit.
"""

STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))


class Oracle:
    """A game in progress."""

    def __init__(self, size, rule="freestyle", captures=0, double_three="allowed"):
        self.size, self.rule, self.captures = size, rule, captures
        self.double_three = double_three
        self.board = {}  # (row, col): player
        self.pairs = [0, 0]
        self.to_play = 0
        self.waiting = None  # whose five can be answered
        self.winner = None
        self.is_over = False

    def empty(self):
        places = [(row, col) for row in range(self.size) for col in range(self.size)]
        return [place for place in places if place not in self.board]

    def legal(self, player):
        return [place for place in self.empty() if not self.is_forbidden(player, place)]

    def play(self, place):
        player, other = self.to_play, 1 - self.to_play
        taken = self.taken(player, place)
        self.board[place] = player
        for stone in taken:
            del self.board[stone]
        self.pairs[player] += len(taken) // 2
        waiting, self.waiting = self.waiting, None
        if self.captures and self.pairs[player] >= self.captures:
            self.winner = player
        elif waiting is not None and self.has_five(waiting):
            self.winner = waiting
        elif self.is_five(player, place):
            if self.captures and self.can_answer(other):
                self.waiting = player
            else:
                self.winner = player
        self.to_play = other
        self.is_over = self.winner is not None or not self.legal(other)

    def can_answer(self, player):
        for place in self.legal(player):
            taken = self.taken(player, place)
            if not taken:
                continue
            if self.pairs[player] + len(taken) // 2 >= self.captures:
                return True
            kept = dict(self.board)
            for stone in taken:
                del self.board[stone]
            is_broken = not self.has_five(1 - player)
            self.board = kept
            if is_broken:
                return True
        return False

    def taken(self, player, place):
        """The stones that one more stone encloses in pairs."""
        stones = []
        if self.captures:
            for step in STEPS:
                for sign in (1, -1):
                    one, two, three = (self.along(place, step, sign * i) for i in (1, 2, 3))
                    around = [self.board.get(cell) for cell in (one, two, three)]
                    if around == [1 - player, 1 - player, player]:
                        stones += [one, two]
        return stones

    def has_five(self, player):
        stones = [place for place, owner in self.board.items() if owner == player]
        return any(self.is_five(player, place) for place in stones)

    def is_five(self, player, place):
        return any(self.is_five_on(player, place, step) for step in STEPS)

    def is_five_on(self, player, place, step):
        length = len(self.run(player, place, step))
        return length == 5 if self.is_exact(player) else length >= 5

    def is_exact(self, player):
        return self.rule == "standard" or (self.rule == "renju" and player == 0)

    def run(self, player, place, step):
        """The unbroken row of a player's stones through one of them."""
        stones = [place]
        for sign in (1, -1):
            cell = self.along(place, step, sign)
            while self.board.get(cell) == player:
                stones.append(cell)
                cell = self.along(cell, step, sign)
        return stones

    @staticmethod
    def along(place, step, count):
        return place[0] + count * step[0], place[1] + count * step[1]

    def is_empty(self, place):
        return max(place) < self.size and min(place) >= 0 and place not in self.board

    def is_forbidden(self, player, place):
        is_renju = self.rule == "renju" and player == 0
        if not is_renju and self.double_three == "allowed":
            return False
        self.board[place] = player
        try:
            if self.is_five(player, place):
                return False
            if is_renju and any(len(self.run(player, place, step)) > 5 for step in STEPS):
                return True
            fours = sum(len(self.fours(player, place, step)) for step in STEPS)
            if is_renju and fours > 1:
                return True
            return sum(self.is_three(player, place, step) for step in STEPS) > 1
        finally:
            del self.board[place]

    def fours(self, player, place, step):
        """The fours on a line that the stone is in, each as the set of its stones."""
        found = set()
        for cell in (self.along(place, step, count) for count in range(-4, 5)):
            if self.is_empty(cell):
                self.board[cell] = player
                run = self.run(player, cell, step)
                if place in run and self.is_five_on(player, cell, step):
                    found.add(frozenset(run) - {cell})
                del self.board[cell]
        return found

    def is_three(self, player, place, step):
        if self.fours(player, place, step):
            return False
        return any(
            self.makes_straight_four(player, place, cell, step)
            and not self.is_forbidden(player, cell)
            for cell in (self.along(place, step, count) for count in range(-4, 5))
            if self.is_empty(cell)
        )

    def makes_straight_four(self, player, place, cell, step):
        """Whether a stone there makes an unbroken four that either end makes five, and no five."""
        self.board[cell] = player
        try:
            run = self.run(player, cell, step)
            if len(run) != 4 or place not in run or self.is_five(player, cell):
                return False
            ends = {self.along(stone, step, sign) for stone in run for sign in (1, -1)} - set(run)
            return all(self.is_end(player, end, step) for end in ends)
        finally:
            del self.board[cell]

    def is_end(self, player, cell, step):
        if not self.is_empty(cell):
            return False
        self.board[cell] = player
        makes_five = self.is_five_on(player, cell, step)
        del self.board[cell]
        return makes_five
