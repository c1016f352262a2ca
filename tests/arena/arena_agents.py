"""Small agents with obvious behaviour, for tests of the arena."""

from plainzero import make_game

CONNECT_FOUR = make_game("connect-four")
TIC_TAC_TOE = make_game("tic-tac-toe")
TRIO = make_game("trio")
TINY_2048 = make_game("2048(size=2,target=32)")  # the search's tests compile it too


class Lowest:
    """Always plays the lowest legal action."""

    name = "lowest"

    def __init__(self, game):
        self.game, self.calls = game, []

    def choose(self, states, seed):
        self.calls.append([self.game.copy(state) for state in states])
        return [min(self.game.legal(state)) for state in states]


class Highest(Lowest):
    name = "highest"

    def choose(self, states, seed):
        return [max(self.game.legal(state)) for state in states]
