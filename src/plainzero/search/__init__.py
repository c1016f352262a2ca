"""Monte Carlo tree search, from UCT with rollouts to PUCT and Gumbel with a network.

In reading order: `config` (every option), `tree` and `scratch` (the data), `simulation` (select,
evaluate, expand, back up), `selection` and `formulas`, `gumbel`, `expansion`, `rollout`, `backup`,
`proof`, `amaf`, `root`, `reuse`. `cpu` and `cuda` loop over games; `leaves` has their leaves
evaluated, with a `cache` or without; `runner` drives it all, in the threads of a `pool`, and `api`
is what people call.

Values are from the point of view of the player to move at the node in question, everywhere.
"""
