"""Perfect play of Connect Four: an exact solver and an opening book."""
