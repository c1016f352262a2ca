"""The heads' kernel of the fused tower against cuBLAS: right, and fast beside a tower?

Two sections of benchmarks/tower.py.
"""

import torch
from torch.nn import functional
from tower_timing import (
    MULTIPROCESSORS,
    best_seconds,
    captured,
    compile_all,
    cublas_heads,
    drawn,
    heads_shape_of,
    shape_of,
)

from plainzero.networks.gpu.heads import Heads
from plainzero.networks.gpu.heads_layout import HeadsPlan
from plainzero.networks.gpu.tower import Tower
from plainzero.networks.gpu.tower_layout import make_plan

CHECKED = (  # game, values, board tiles of a warp, batch, slices: 0 as many as are fastest
    ("connect-four", "auto", 4, 1003, 0),
    ("connect-four", "auto", 4, 1003, 1),
    ("connect-four", "auto", 2, 777, 5),
    ("connect-four", "auto", 4, 1, 0),
    ("connect-four", "auto", 4, 16_384, 0),
    ("connect-four", "wdl", 4, 1003, 0),
    ("connect-four", "wdl", 2, 1003, 1),
    ("trio", "auto", 4, 301, 0),
    ("gomoku", "auto", 4, 301, 0),
    ("gomoku", "auto", 4, 4096, 0),
    ("gomoku", "auto", 2, 301, 1),
    ("go", "auto", 4, 301, 0),
    ("othello", "auto", 4, 1000, 0),
    ("2048", "auto", 4, 999, 0),
    ("tic-tac-toe", "auto", 4, 10_007, 0),
)
TIMED = {"connect-four": (2048, 4096, 8192, 16_384), "gomoku": (4096,)}
TOLERANCE = 1e-3  # of the largest answer: only the order of sums differs


# ---- check ----------------------------------------------------------------------------------


def check_heads():
    """How many shapes are wrong, and a line for each."""
    plans = [HeadsPlan(heads_shape_of(name, values), tiles) for name, values, tiles, *_ in CHECKED]
    binaries = compile_all(plans)
    wrong = 0
    for case, plan in zip(CHECKED, plans, strict=True):
        errors, is_repeated = errors_of(*case, plan, binaries[plan])
        is_right = is_repeated and all(error < TOLERANCE for error in errors)
        wrong += not is_right
        logits, values = (f"{error:.6f}" for error in errors)
        print(f"{'right' if is_right else 'WRONG'}  heads of {case}: {logits} {values}", end="")
        print("" if is_repeated else ", and other answers the second time", flush=True)
    return wrong


def errors_of(name, values, _, batch, slices, plan, binary):
    """Of logits and values, as shares of the largest; and whether a second launch agrees."""
    network = drawn(name, 1, 64, values)
    heads, features = Heads(network, plan, binary), drawn_features(plan, batch)
    room = heads.make_room(batch, slices)
    answers = empty_answers(plan, batch)
    first = []
    for _ in range(2):
        for answer in answers:
            answer.fill_(torch.nan)
        heads(features, *answers, room)
        first = first or [answer.clone() for answer in answers]
    errors = [
        ((answer - right).abs().amax() / right.abs().amax()).item()
        for answer, right in zip(answers, in_float32(network, features), strict=True)
    ]
    return errors, all(map(torch.equal, first, answers))


def in_float32(network, features):
    """Logits and values with weights in bf16."""

    def read(layer, channels):
        inputs = channels.float().mT.flatten(1)
        return functional.linear(inputs, layer.weight.bfloat16().float(), layer.bias)

    torch.backends.cuda.matmul.allow_tf32 = False
    logits = read(network.policy[-1], features[:, :, :32])
    hidden = functional.relu(read(network.value[-3], features[:, :, 32:]))
    output = network.finish(logits, network.value[-1](hidden))
    return output.logits, output.values.reshape(len(features), -1)


def drawn_features(plan, batch):
    torch.manual_seed(3)
    return torch.randn(batch, plan.shape.cells, 64, device="cuda").relu().bfloat16()


def empty_answers(plan, batch):
    sizes = (batch, plan.shape.actions), (batch, plan.shape.values)
    return [torch.empty(size, device="cuda") for size in sizes]


# ---- time -----------------------------------------------------------------------------------


def time_heads():
    plans = {
        (name, batch): (
            make_plan(shape_of(name, 4, 64), batch, MULTIPROCESSORS),
            [HeadsPlan(heads_shape_of(name), tiles) for tiles in (4, 2)],
        )
        for name, batches in TIMED.items()
        for batch in batches
    }
    binaries = compile_all([plan for tower, heads in plans.values() for plan in (tower, *heads)])
    print("µs; 'after': one after the other, 'beside': of another batch, at the same time")
    for (name, batch), (tower_plan, heads_plans) in plans.items():
        network = drawn(name, 4, 64)
        tower = Tower(tower_plan, binaries[tower_plan])
        tower.load(network)
        runs = head_runs(network, batch, heads_plans, binaries)
        graphs = {label: captured(run) for label, run in runs.items()}
        print_agreement(graphs)
        graphs |= {label: captured(run) for label, run in together(tower, network, batch, runs)}
        for label, best in best_seconds(graphs).items():
            print(f"{name} {batch:>7,}  {label:<42}{best * 1e6:7.1f} µs", flush=True)


def head_runs(network, batch, plans, binaries):
    """Ways to compute the heads of the same features, by label."""
    features, read = drawn_features(plans[0], batch), cublas_heads(network)
    runs = {"cuBLAS": lambda: read(features)}
    for plan in plans:
        heads = Heads(network, plan, binaries[plan])
        chosen = heads.make_room(batch).slices
        for slices in sorted({1, chosen, 2 * chosen} if plan is plans[0] else {chosen}):
            mark = " as chosen" if slices == chosen and plan is plans[0] else ""
            label = f"heads, {plan.boards} boards, {slices} slices{mark}"
            runs[label] = heads_run(heads, features, heads.make_room(batch, slices))
    return runs


def heads_run(heads, features, room):
    answers = empty_answers(heads.plan, room.batch)

    def run():
        heads(features, *answers, room)
        return answers

    return run


def together(tower, network, batch, runs):
    """Label and function of the tower alone, and with each way of computing the heads."""
    planes = torch.randn(batch, *network.shape, device="cuda")
    out = torch.empty((batch, network.shape[1] * network.shape[2], 64), device="cuda").bfloat16()
    side = torch.cuda.Stream(priority=-1)

    def read():
        tower(planes, out)

    yield "tower", read
    for label, run in runs.items():

        def after(run=run):
            read()
            return run()

        def beside(run=run):
            here = torch.cuda.current_stream()
            side.wait_stream(here)
            with torch.cuda.stream(side):
                read()
            result = run()
            here.wait_stream(side)
            return result

        if "as chosen" in label or not label.startswith("heads"):
            yield f"{label} after tower", after
        yield f"{label} beside tower", beside


def print_agreement(graphs):
    """Prints how far each way is from cuBLAS."""
    for graph, *_ in graphs.values():
        graph.replay()
    torch.cuda.synchronize()
    reference = graphs["cuBLAS"][1]
    for label, (_, answers, _) in graphs.items():
        errors = [
            (mine - theirs).abs().max().item()
            for mine, theirs in zip(answers, reference, strict=True)
        ]
        print(f"    {label}: logits off by {errors[0]:.5f}, values by {errors[1]:.5f}")
