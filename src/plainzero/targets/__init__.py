"""What is learned from finished games: one file for each target, and a list of all of them.

A target says which columns of numbers belong to a position (`target.py`), how they are written
while a finished game is played again (in compiled code, on the CPU and on a GPU alike), which head
a network needs for it, and its loss. The rest follows from the list in `all_targets.py`: what the
replay stores and how symmetries turn it, which heads are trained, and the metrics.
"""
