"""Self-play: many games at once become game records.

config.py says how games are played, games.py holds those in progress, turns.py plays their moves in
compiled code, worker.py drives one thread's games, records.py and shards.py keep what was finished.
"""
