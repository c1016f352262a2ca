"""Training: replay, losses, the learner, and the run folder that survives everything.

config.py has every setting, window.py and replay.py what is learned from, learner.py the steps,
folder.py what is on disk, loop.py the generations of self-play and learning, saved.py how others
open a run.
"""
