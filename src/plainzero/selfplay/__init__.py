"""Self-play: many games side by side become game records.

config.py has the options, games_in_progress.py the arrays of games in progress, turn_kernels.py the
compiled code that plays them, worker.py the games of one thread, records.py finished games,
shards.py their files, and observations.py the positions to learn from. gpu/ does the same for
thousands of games on a GPU.
"""
