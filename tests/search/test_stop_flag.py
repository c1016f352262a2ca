"""A `StopFlag` set at any moment stops its searches."""

import numpy as np

from plainzero import StopFlag

WORK = np.dtype([("stop", np.int32)])


class InterruptedWork(np.ndarray):
    """Working memory whose first writer is interrupted by another thread that sets the flag."""

    flag: StopFlag

    def __setitem__(self, key, value):
        flag, self.flag = self.flag, None
        if flag is not None:
            flag.set()
        super().__setitem__(key, value)


def test_a_flag_set_while_it_is_attached_stays_set():
    flag = StopFlag()
    work = np.zeros(3, WORK).view(InterruptedWork)
    work.flag = flag
    flag.attach(work)
    if not flag.is_set():
        flag.set()
    assert work["stop"].tolist() == [1, 1, 1]


def test_a_flag_set_before_or_after_it_is_attached_stops_all_games():
    flag, early, late = StopFlag(), np.zeros(2, WORK), np.zeros(2, WORK)
    flag.attach(early)
    assert not flag.is_set() and not early["stop"].any()
    flag.set()
    flag.attach(late)
    assert early["stop"].all() and late["stop"].all()


def test_a_flag_used_for_many_searches_forgets_those_that_ended():
    flag, works = StopFlag(), [np.zeros(1, WORK) for _ in range(3)]
    flag.attach(works[0])
    for _ in range(1000):
        flag.attach(np.zeros(1, WORK))
    flag.attach(works[1])
    assert len(flag._attached) == 2
    flag.set()
    assert [int(work["stop"][0]) for work in works] == [1, 1, 0]


def test_a_flag_does_not_clear_a_stop_that_something_else_requested():
    work = np.ones(2, WORK)
    StopFlag().attach(work)
    assert work["stop"].all()
