"""Kernels compiled by NVIDIA's compiler, which needs no GPU: what only it refuses is seen here."""

import numpy as np
import pytest
from llvmlite import ir
from missing_programs import do_without
from numba import typeof, types
from numba.extending import intrinsic

from plainzero import SearchConfig, make_game
from plainzero.compiler.cpu_kernels import kernel_function
from plainzero.compiler.gpu_ptx import (
    GpuCompileError,
    function_to_ptx,
    kernel_to_ptx,
    missing_compiler,
)
from plainzero.games.rules import bound_rule, register
from plainzero.search.tree_memory import HOST_MEMORY

pytest.importorskip("numba_cuda", reason="needs numba-cuda")

from plainzero.compiler import gpu_ptx
from plainzero.compiler.gpu_kernels import GpuKernel
from plainzero.selfplay.gpu import compile_worker


@pytest.fixture(scope="module")
def compiler(pytestconfig):
    if missing_compiler():
        do_without(pytestconfig, missing_compiler())


needs_compiler = pytest.mark.usefixtures("compiler")

SEARCH = ("search",)
EVERYTHING = ("search", "select", "finish", "others")


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    ("name", "selection", "groups"),
    [
        ("connect-four", "puct", EVERYTHING),
        ("connect-four", "gumbel", ("search", "finish")),
        *((game, "puct", ("others",)) for game in ("go", "othello", "hex", "dots-and-boxes")),
        ("gomoku", "puct", SEARCH),
        ("gomoku-42", "gumbel", SEARCH),
        ("othello", "gumbel", SEARCH),
        ("breakthrough", "gumbel", SEARCH),
        ("ultimate-tic-tac-toe", "gumbel", SEARCH),
    ],
)
def test_kernels_compile_for_a_gpu(name, selection, groups):
    game = make_game(name)
    search = SearchConfig(selection=selection, simulations=8)
    arguments = compile_worker.kernel_arguments(game, search, HOST_MEMORY)
    groups_of_kernels = compile_worker.SELFPLAY | compile_worker.SEARCH
    for kernel in (kernel for group in groups for kernel in groups_of_kernels[group]):
        code = kernel_to_ptx(kernel, register(game), *arguments[kernel])
        assert ".target sm_90" in code
        assert ".visible .entry" in code


@needs_compiler
@pytest.mark.parametrize("rule", ["legal_actions", "play"])
def test_a_bound_rule_compiles_alone(rule):
    game = make_game("tic-tac-toe")
    state = typeof(np.zeros(1, game.dtype)).dtype
    argument = {"legal_actions": types.int32[::1], "play": types.int32}[rule]
    code = function_to_ptx(bound_rule(register(game), rule), (state, argument))
    assert ".visible .func" in code


def a_list(numbers):
    numbers[0] = len([numbers[1], numbers[2]])


def a_new_array(numbers):
    numbers[0] = np.zeros(3)[1]


@intrinsic
def pause(_):
    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", fnty=kind), [])

    return types.void(), generate


@kernel_function
def of_another_processor(numbers):
    """Numba's typing and lowering accept it; only NVIDIA's compiler does not."""
    pause()
    numbers[0] = 1


REFUSED = [
    (a_list, "NRT required"),
    (a_new_array, "zeros"),
    (of_another_processor, "NVIDIA's compiler refuses the code"),
]


@needs_compiler
@pytest.mark.parametrize(("function", "message"), REFUSED)
def test_a_function_that_the_compiler_refuses_is_an_error(function, message):
    with pytest.raises(GpuCompileError, match=message):
        function_to_ptx(function, (types.int64[::1],))


@GpuKernel
def planted(numbers, first, last):
    of_another_processor(numbers)


@needs_compiler
def test_a_kernel_that_calls_what_the_compiler_refuses_is_an_error():
    with pytest.raises(GpuCompileError, match="NVIDIA's compiler refuses the code"):
        kernel_to_ptx(planted, "tag", np.zeros(1, np.int64), 0, 1)


def test_a_missing_compiler_is_said_with_what_to_install(monkeypatch):
    def fail(*_, **__):
        raise GpuCompileError("libnvvm.so cannot be found\nlong list of folders")

    monkeypatch.setattr(gpu_ptx, "_compile", fail)
    reason = missing_compiler.__wrapped__()
    assert reason == (
        "needs NVIDIA's compiler: pip install 'plainzero[cuda]' (libnvvm.so cannot be found)"
    )


@needs_compiler
def test_another_version_of_numba_is_a_missing_compiler(monkeypatch):
    from numba.cuda import dispatcher

    monkeypatch.delattr(dispatcher, "get_current_device")
    with pytest.raises(GpuCompileError, match="cannot compile without a GPU"):
        function_to_ptx(a_list, (types.int64[::1],))
    assert "this version of numba-cuda" in missing_compiler.__wrapped__()


def test_a_missing_package_is_said_with_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    expected = "needs the package numba-cuda: pip install 'plainzero[cuda]'"
    assert missing_compiler.__wrapped__() == expected
