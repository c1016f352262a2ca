"""Players that learn nothing: random, alpha-beta on any game, and perfect play where it is known.

In reading order: `protocol`, `random_player`, `alpha_beta` (its compiled part in `game_tree` and
`transpositions`), `connect_four_solver` (compiled: `connect_four_kernels`), `perfect`, and
`positions`, sets of positions with the true outcome of every move.
"""
