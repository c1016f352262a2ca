"""What implements a part of a run has the methods of its Protocol, and no others."""

import pytest

from plainzero.arena.assessor_process import AssessorProcess
from plainzero.training import interfaces
from plainzero.training.function_assessor import FunctionAssessor
from plainzero.training.generator import CpuGenerator
from plainzero.training.gpu.generator import GpuGenerator
from plainzero.training.gpu.learner import GpuLearner
from plainzero.training.learner import CpuLearner


def public_names(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [
        (interfaces.Generator, CpuGenerator),
        (interfaces.Generator, GpuGenerator),
        (interfaces.Learner, CpuLearner),
        (interfaces.Learner, GpuLearner),
        (interfaces.Assessor, FunctionAssessor),
        (interfaces.Assessor, AssessorProcess),
    ],
)
def test_a_part_has_the_methods_of_its_protocol_alone(protocol, kind):
    assert public_names(kind) == public_names(protocol) != set()
