"""Games in files: JSON, SGF and plain move lists, read and written by `saved_games`."""
