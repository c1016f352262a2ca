"""A helper in a separate file."""

SHIFT = 1000


def shifted(x):
    return x + SHIFT
