"""Searches on the server: scheduling, agents, and their reports."""
