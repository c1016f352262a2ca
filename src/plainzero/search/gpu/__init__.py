"""The search on a GPU.

In reading order: `warp_lanes` (threads that share a tree), `kernels` (entry points), `pipeline`
(rounds of kernels and network), `trees` (memory), `runner` (a search from its first round to its
results), `repeated_search` (the same search again and again, for benchmarks).
"""
