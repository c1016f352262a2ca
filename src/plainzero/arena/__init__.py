"""Who is stronger, and by how much: matches, ratings, accuracy on solved positions, sweeps.

Read in this order: `agents` (who plays), `openings` and `match` (what they play, both colours of
each opening), `elo`, `sprt` and `ratings` (what the results say), `gate`, `accuracy`, `sweep`,
`assessing` (what is built on them).
"""
