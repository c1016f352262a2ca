"""Puts the folder with the slow search on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
