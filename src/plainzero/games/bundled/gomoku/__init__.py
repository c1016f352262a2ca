"""Gomoku: `rules` is the game, `with_captures` the variant of the 42 schools.

`line_patterns` reads the four lines through a point; `captures`, `forbidden_points` and
`forbidden_candidates` build on it. `board` names and draws the points.
"""
