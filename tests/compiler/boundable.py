"""Objects whose methods the tests bind; in a file, because rules need their source."""

import math

import numpy as np
from boundable_helpers import SHIFT, shifted
from numba import njit

WEIGHTS = [3, 5, 7]
OFFSET = 10
TABLE = np.array([2, 4, 8])


NAMES = {1: 2}


def factorial(x):
    return 1 if x <= 1 else x * factorial(x - 1)


def doubled(x):
    return 2 * x


def doubled_twice(x):
    return doubled(doubled(x))


def real(numbers):
    return sum(number for number in numbers)


@njit
def jitted(x):
    return x + 100


class Base:
    """Whatever a rule may say of `self`."""

    rows = 3
    pair = (4, 5)
    steps = [1, 2, 3]  # noqa: RUF012
    table = np.array([10, 20, 30])
    half = np.float32(0.5)

    area = property(lambda self: self.rows * self.rows)

    def constants(self, x):
        return x + self.rows + self.area + self.pair[1]

    def lists(self, x):
        return x + self.steps[2] + WEIGHTS[x % 3]

    def arrays(self, x):
        return self.table[x] + TABLE[x] + self.half

    def module_names(self, x):
        return doubled_twice(x) + OFFSET

    def other_file(self, x):
        return shifted(x) + SHIFT

    def calls_jitted(self, x):
        return jitted(x)

    def uses_math(self, x):
        return math.sqrt(x)

    def helper(self, x, factor=OFFSET):
        return factor * x

    def calls(self, x):
        return self.helper(x) + self.helper(x, 2) + self.helper(x, factor=3)

    @staticmethod
    def static(x):
        return x - 1

    def calls_static(self, x):
        return self.static(x)

    def rule(self, x):
        return x + self.bonus(x)

    def bonus(self, x):
        return 1

    def reads_a_field(self, x):
        """`real` is an attribute and a variable here, not the function of that name."""
        real = x.real
        return real + 1

    def annotated(self, x: "Nothing") -> "Nowhere":  # noqa: F821
        y: int = x
        return y


class Derived(Base):
    rows = 4

    def rule(self, x):
        return 10 * super().rule(x)

    def bonus(self, x):
        return 2 + super().bonus(x)


class Faulty:
    """Each method has one thing that cannot be bound, on the line marked as fault."""

    names = {"a": 1}  # noqa: RUF012
    short = lambda self, x: x  # noqa: E731

    def unknown(self, x):
        return self.colour  # fault

    def assigns(self, x):
        self.count = x  # fault

    def adds(self, x):
        self.count += x  # fault

    def passes_itself_on(self, x):
        return len(self)  # fault

    def uses_a_dict(self, x):
        return self.names["a"]  # fault

    def countdown(self, x):
        return 0 if x <= 0 else 1 + self.countdown(x - 1)  # fault

    def calls_a_function_that_recurses(self, x):
        return factorial(x)

    def ping(self, x):
        return self.pong(x - 1)

    def pong(self, x):
        return self.ping(x)  # fault

    def searches(self, x):
        return any(x == weight for weight in WEIGHTS)  # fault

    def generates(self, x):
        yield x  # fault

    def appends(self, x):
        WEIGHTS.append(x)  # fault

    def overwrites(self, x):
        TABLE[0] = x  # fault

    def looks_up(self, x):
        return NAMES[x]  # fault

    def counts_in_the_class(self, x):
        self.names["a"] = x  # fault

    def declares(self, x):
        global OFFSET  # fault
        OFFSET = x

    def imports(self, x):
        import math  # fault

        return math.sqrt(x)

    def prints(self, x):
        print(x)  # fault

    def replaces(self, state):
        board = state.board
        state.board = board  # fault

    def local_list(self, x):
        WEIGHTS = [x]
        WEIGHTS[0] = x + 1
        return WEIGHTS[0]


class FailsToCompile:
    def inner(self, x):
        return "x" + x  # fault

    def outer(self, x):
        return self.inner(x)
