"""Gomoku: `rules` is the game, `with_captures` the variant of the 42 schools.

`stone_lines` stores the stones and reads the four lines through a point, in which `line_patterns`
and `captures` find shapes; `forbidden_candidates` and `forbidden_points` build on them. `board`
names and draws the points.
"""
