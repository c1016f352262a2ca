"""The command line, one file a command group.

`main` puts the commands together; `games`, `check`, `search`, `play` and `bench` are one each.
`asking` turns what was typed into a game, a position and a searcher, `thinking` runs a search under
a progress bar and Ctrl-C, `drawing` shows boards and results. Commands import what is heavy when
they run, so that `plainzero --help` answers at once.
"""
