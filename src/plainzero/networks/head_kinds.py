"""Kinds of heads that are only trained."""

from typing import Literal, NamedTuple


class HeadKind(NamedTuple):
    """What a head answers.

    policy: a logit for each action. numbers: `size` numbers from −1 to 1. cells: one such number
    for each cell of the board.
    """

    answers: Literal["policy", "numbers", "cells"]
    size: int = 1
