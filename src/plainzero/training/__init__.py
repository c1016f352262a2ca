"""Training: replay, losses, the learner, and the run folder that survives everything.

config.py has every setting, replay.py what is learned from, learner.py the steps, generating.py
the games, folder.py what is on disk, loop.py the generations of self-play and learning, saved.py
how others open a run, doctor.py what is wrong with one.
"""
