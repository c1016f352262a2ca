"""One figure for an agent's strength in a game: `choose` names each game's yardstick.

`measurement` is what every yardstick returns; the other modules hold one yardstick each.
"""
