"""The heads' kernel of the fused tower compared with cuBLAS: correctness and speed.

Used by two sections of benchmarks/tower.py.
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

from plainzero import make_game
from plainzero.games.board_actions import board_actions
from plainzero.networks.gpu.board_heads import BoardHeads
from plainzero.networks.gpu.heads import Heads
from plainzero.networks.gpu.heads_layout import HeadsLayout
from plainzero.networks.gpu.tower import Tower
from plainzero.networks.gpu.tower_layout import choose_layout

CHECKED = (  # game, values, board tiles per warp, batch, slices (0: the fastest number)
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
TIMED = {"connect-four": (2048, 4096, 8192, 16_384), "gomoku": (4096,), "go": (4096,)}
TOLERANCE = 1e-3  # relative to the largest output: only the order of sums differs


# ---- check ----------------------------------------------------------------------------------


def check_heads():
    """The number of wrong shapes; prints one line per shape."""
    layouts = [
        HeadsLayout(heads_shape_of(name, values), tiles) for name, values, tiles, *_ in CHECKED
    ]
    binaries = compile_all(layouts)
    wrong = 0
    for case, layout in zip(CHECKED, layouts, strict=True):
        errors, is_repeated = errors_of(*case, layout, binaries[layout])
        is_right = is_repeated and all(error < TOLERANCE for error in errors)
        wrong += not is_right
        logits, values = (f"{error:.6f}" for error in errors)
        print(f"{'ok   ' if is_right else 'WRONG'}  heads of {case}: {logits} {values}", end="")
        print("" if is_repeated else ", and the second launch differs", flush=True)
    return wrong


def errors_of(name, values, _, batch, slices, layout, binary):
    """Relative errors of logits and values, and whether a second launch agrees."""
    network = drawn(name, 1, 64, values)
    heads, features = Heads(network, layout, binary), drawn_features(layout, batch)
    buffers = heads.make_buffers(batch, slices)
    answers = empty_answers(layout, batch)
    first = []
    for _ in range(2):
        for answer in answers:
            answer.fill_(torch.nan)
        heads(features, *answers, buffers)
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


def drawn_features(layout, batch):
    torch.manual_seed(3)
    return torch.randn(batch, layout.shape.cells, 64, device="cuda").relu().bfloat16()


def empty_answers(layout, batch):
    sizes = (batch, layout.shape.actions), (batch, layout.shape.values)
    return [torch.empty(size, device="cuda") for size in sizes]


# ---- time -----------------------------------------------------------------------------------


def time_heads():
    layouts = {
        (name, batch): (
            choose_layout(shape_of(name, 4, 64), batch, MULTIPROCESSORS),
            [HeadsLayout(heads_shape_of(name), tiles) for tiles in (4, 2)],
        )
        for name, batches in TIMED.items()
        for batch in batches
    }
    binaries = compile_all(
        [layout for tower, heads in layouts.values() for layout in (tower, *heads)]
    )
    print("µs; 'after': one after the other; 'beside': concurrently, for another batch")
    for (name, batch), (tower_layout, heads_layouts) in layouts.items():
        network = drawn(name, 4, 64)
        tower = Tower(tower_layout, binaries[tower_layout])
        tower.load(network)
        runs = head_runs(network, batch, heads_layouts, binaries)
        graphs = {label: captured(run) for label, run in runs.items()}
        print_agreement(graphs)
        if board_actions(make_game(name)) is not None:
            label, run = "board heads", board_run(name, batch, heads_layouts[0])
            runs[label], graphs[label] = run, captured(run)
        graphs |= {label: captured(run) for label, run in together(tower, network, batch, runs)}
        for label, best in best_seconds(graphs).items():
            print(f"{name} {batch:>7,}  {label:<42}{best * 1e6:7.1f} µs", flush=True)


def head_runs(network, batch, layouts, binaries):
    """Functions that compute the heads of the same features, by label."""
    features, read = drawn_features(layouts[0], batch), cublas_heads(network)
    runs = {"cuBLAS": lambda: read(features)}
    for layout in layouts:
        heads = Heads(network, layout, binaries[layout])
        chosen = heads.make_buffers(batch).slices
        for slices in sorted({1, chosen, 2 * chosen} if layout is layouts[0] else {chosen}):
            mark = " as chosen" if slices == chosen and layout is layouts[0] else ""
            label = f"heads, {layout.boards} boards, {slices} slices{mark}"
            runs[label] = heads_run(heads, features, heads.make_buffers(batch, slices))
    return runs


def board_run(name, batch, layout):
    heads = BoardHeads(drawn(name, 4, 64, policy="board", value_head="pooled"))
    features, answers = drawn_features(layout, batch), empty_answers(layout, batch)

    def run():
        heads(features, *answers, None)
        return answers

    return run


def heads_run(heads, features, buffers):
    answers = empty_answers(heads.layout, buffers.batch)

    def run():
        heads(features, *answers, buffers)
        return answers

    return run


def together(tower, network, batch, runs):
    """Label and function of the tower alone, and with each method of computing the heads."""
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
    """Prints the largest differences of each method from cuBLAS."""
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
