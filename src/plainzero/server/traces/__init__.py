"""Recorded searches that the page replays simulation by simulation."""
