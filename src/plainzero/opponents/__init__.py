"""Agents that need no training: random, alpha-beta, search, perfect play and bundled networks.

In reading order: `agent` (the interface), `random_agent`, `search_agent` and `timed_moves`;
`alpha_beta` (compiled: `alpha_beta_kernels`, `alpha_beta_stack`, `move_ordering`,
`transposition_table`); `connect_four` (its solver and opening book), `book_agent` and `perfect`;
`solved_positions` and `decisive_positions` (sets of positions with the outcome of every move);
`gomoku_evaluator` (with `gomoku_shapes` and `gomoku_evaluator_kernels`); `network_files` and
`bundled_networks`.
"""
