"""Measures strength: matches, ratings, accuracy on solved positions, sweeps.

In reading order: `agent_specs` and `engine_specs` (who plays), `openings`, `match_games` and
`match` (both sides of each opening), `match_files`; `elo`, `sprt` and `ratings` (statistics of the
results); `round_robin`, `gate`, `accuracy`, `sweep` and `error_curve` (built on them); a game's
`ladder` with `ladder_agents`, `ladder_schedule`, `ladder_games`, `ladder_files` and `ladder_text`;
`strength_meter` and `assessor_process` (strength during training); `yardsticks` (one figure per
game), `plots`.
"""
