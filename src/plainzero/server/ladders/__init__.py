"""Ladders for the page: bundled ones, the user's own, and placing runs on them."""
