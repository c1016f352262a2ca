"""The search algorithm, compiled for CPU and GPU; `plainzero.search` lists the reading order."""
