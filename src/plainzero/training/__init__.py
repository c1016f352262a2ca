"""Training: a run's generations of self-play and learning, in a folder that survives a kill.

settings.py has every setting, interfaces.py the parts of a run, and loop.py how they work together.
generator.py plays the games, replay.py has the positions, learner.py takes the steps, and gpu/ does
so on a GPU; choose_device.py chooses between them. run_folder.py has the files, saved_run.py opens
a run to play with it, and doctor/ finds out what is wrong with one.
"""
