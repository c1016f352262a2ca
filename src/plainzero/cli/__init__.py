"""The command line: one file per command, assembled by `main`; shared parts are in `terminal/`.

Commands import heavy modules when they run, so that `plainzero --help` answers at once.
"""
