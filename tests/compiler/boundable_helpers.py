"""A helper in a file of its own."""

SHIFT = 1000


def shifted(x):
    return x + SHIFT
