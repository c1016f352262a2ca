"""The check of a user's game: `check_game` runs the other modules, one per part of the contract."""
