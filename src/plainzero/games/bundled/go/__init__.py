"""Go: `rules` is the game, `stones` finds groups and liberties, `superko` remembers positions."""
