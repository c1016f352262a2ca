"""Players that learn nothing: random, alpha-beta on any game, and perfect play where it is known.

In reading order: `protocol`, `random_player`, `alpha_beta` (its compiled part in `game_tree`,
`move_ordering` and `transpositions`), `connect_four_solver` (compiled: `connect_four_kernels` and
`connect_four_bits`), `perfect`, `positions` (sets of them with the true outcome of every move) and
`position_making`.
"""
