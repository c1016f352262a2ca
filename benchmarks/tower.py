"""The fused tower against cuDNN's fused convolutions, on a Hopper GPU.

    python benchmarks/tower.py            all sections below, each in a separate process
    python benchmarks/tower.py check      the kernels against float32, the tower layer by layer
    python benchmarks/tower.py time       evaluations per second of networks, Connect Four 4×64
    python benchmarks/tower.py wide       the same, 6×128
    python benchmarks/tower.py parts      one batch with parts of the kernel left out
    python benchmarks/tower.py heads      the heads' kernel and cuBLAS, alone and beside a tower

Weights are random and nonzero. Rates are the best of several rounds with methods interleaved; each
method is a CUDA graph from float32 planes to logits and values.
"""

import subprocess
import sys
import time

import torch
from torch.nn import functional
from tower_heads import check_heads, time_heads
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
from plainzero.networks.gpu.heads_layout import HeadsLayout
from plainzero.networks.gpu.tower import Tower
from plainzero.networks.gpu.tower_layout import TowerLayout, choose_layout
from plainzero.networks.gpu.tower_weights import pack_biases

BATCHES = (2048, 4096, 8192, 16_384)
TOLERANCE = 0.02  # of a layer's largest activation: bf16 rounding adds up over the layers
LIMITS = {"check": 60, "time": 60, "wide": 40, "parts": 40, "heads": 40}  # seconds


def main():
    sections = {
        "check": check_shapes,
        "time": time_networks,
        "wide": time_wide_networks,
        "parts": time_parts,
        "heads": time_heads,
    }
    if len(sys.argv) > 1:
        sections[sys.argv[1]]()
        return
    for name in sections:
        start = time.perf_counter()
        print(f"== {name}", flush=True)
        try:
            code = subprocess.run([sys.executable, __file__, name], timeout=LIMITS[name]).returncode
        except subprocess.TimeoutExpired:
            code = "timed out"
        print(f"== {name}: exit {code}, {time.perf_counter() - start:.0f} s", flush=True)


# ---- check ----------------------------------------------------------------------------------


def check_shapes():
    cases = []
    for name, blocks, channels, warpgroups, boards, batch in (
        ("connect-four", 4, 64, 2, 5, 1003),
        ("connect-four", 4, 64, 3, 4, 777),
        ("connect-four", 4, 64, 2, 4, 4096),
        ("connect-four", 2, 48, 2, 1, 5),
        ("gomoku", 3, 64, 2, 1, 301),
        ("go", 2, 64, 2, 2, 301),
        ("othello", 2, 32, 2, 3, 1000),
        ("2048", 1, 24, 2, 7, 999),
        ("hex", 1, 64, 3, 1, 400),
        ("tic-tac-toe", 2, 64, 2, 20, 10_007),
        ("connect-four", 6, 128, 3, 2, 1003),
        ("connect-four", 2, 96, 2, 2, 5),
        ("go", 2, 128, 3, 1, 301),
        ("othello", 2, 128, 2, 1, 1000),
    ):
        layout = TowerLayout(shape_of(name, blocks, channels), warpgroups, boards, is_dumping=True)
        cases.append((name, layout, batch))
    binaries = compile_all([layout for _, layout, _ in cases])
    wrong = check_heads()
    wrong += sum([check(name, layout, batch, binaries[layout]) for name, layout, batch in cases])
    print("all correct" if not wrong else f"{wrong} WRONG")
    sys.exit(wrong > 0)


def check(name, layout, batch, binary):
    """Whether any layer is wrong; prints one line, and one per layer if so."""
    shape = layout.shape
    network = drawn(name, shape.blocks, shape.channels)
    torch.manual_seed(3)
    planes = torch.randn(batch, shape.planes, shape.height, shape.width, device="cuda")
    tower = Tower(layout, binary)
    tower.load(network)
    expected = layers_in_float32(network, planes)
    outs = [torch.full_like(reference, torch.nan).bfloat16() for reference in expected]
    errors = []
    for layer, (out, reference) in enumerate(zip(outs, expected, strict=True)):
        tower(planes, out, layer)
        torch.cuda.synchronize()
        errors.append(((out.float() - reference).abs().amax() / reference.abs().amax()).item())
    is_wrong = not all(error < TOLERANCE for error in errors)
    label = f"{name} {shape.blocks}×{shape.channels}, {layout.warpgroups}×{layout.boards} boards, "
    label += f"{layout.stages} stages, batch {batch}"
    print(f"{'WRONG' if is_wrong else 'ok   '}  {label}: worst {max(errors):.4f}", flush=True)
    if is_wrong:
        for layer, error in enumerate(errors):
            where = where_wrong(outs[layer], expected[layer], layout)
            print(f"    layer {layer}: {error:.4f}  {where}")
    return is_wrong


def where_wrong(out, reference, layout):
    """A summary of the boards in a tile, the cells and the channels that are wrong."""
    off = (out.float() - reference).abs() / reference.abs().amax()
    off = ~(off < TOLERANCE)
    if not off.any():
        return ""
    boards = off.any(2).any(1).nonzero()[:, 0] % layout.tile_boards
    cells, channels = (off.any(0).any(d).nonzero()[:, 0] for d in (1, 0))
    parts = [("share", f"{off.float().mean().item():.3f}")]
    parts += [("boards", boards.unique().tolist()), ("cells", cells.tolist()[:12])]
    parts += [("channels", channels.tolist()[:12])]
    parts += [("got", out[0, 0, :3].tolist()), ("want", reference[0, 0, :3].tolist())]
    return ", ".join(f"{name} {value}" for name, value in parts)


def layers_in_float32(network, planes):
    """Activations [B, cells, 64 or 128] after the stem, each convolution and the heads (64)."""
    torch.backends.cudnn.allow_tf32 = False

    def convolve(layer, x):
        weight = layer.weight.bfloat16().float()
        return functional.conv2d(x, weight, layer.bias, padding=weight.shape[2] // 2)

    def activate(x):
        return functional.relu(x).bfloat16().float()

    def laid_out(*parts):
        channels = -(-parts[0][1].shape[1] // 64) * 64
        laid = torch.zeros(len(planes), channels, *planes.shape[2:], device="cuda")
        for at, part in parts:
            laid[:, at : at + part.shape[1]] = part
        return laid.flatten(2).transpose(1, 2).contiguous()

    stem, _, *blocks = network.body
    x = activate(convolve(stem, planes.bfloat16().float()))
    layers = [laid_out((0, x))]
    for block in blocks:
        inner = activate(convolve(block.first, x))
        x = activate(x + convolve(block.second, inner))
        layers += [laid_out((0, inner)), laid_out((0, x))]
    heads = [activate(convolve(head[0], x)) for head in (network.policy, network.value)]
    return [*layers, laid_out((0, heads[0]), (32, heads[1]))]


# ---- time -----------------------------------------------------------------------------------


def time_networks():
    shape = shape_of("connect-four", 4, 64)
    time_layouts(shape, {batch: plans_to_time(shape, batch) for batch in BATCHES})


def time_wide_networks():
    shape = shape_of("connect-four", 6, 128)
    layout = choose_layout(shape, 16_384, MULTIPROCESSORS)
    layouts = {"tower": layout, "tower alone": layout}
    layouts |= {
        f"tower alone, stagger {ns}": TowerLayout(shape, 3, 2, stagger=ns) for ns in (0, 3000)
    }
    layouts |= {
        f"tower alone without {omit}": TowerLayout(shape, 3, 2, omit=omit) for omit in (1, 2, 3)
    }
    time_layouts(
        shape, {16_384: layouts, 4096: {"tower": choose_layout(shape, 4096, MULTIPROCESSORS)}}
    )


def time_layouts(shape, tables):
    """Prints the rates of cuDNN and of the layouts, by batch and label."""
    torch.backends.cudnn.benchmark = True
    binaries = compile_all([layout for layouts in tables.values() for layout in layouts.values()])
    network = drawn("connect-four", shape.blocks, shape.channels)
    print(f"million evaluations/s, Connect Four {shape.blocks}×{shape.channels}; 'tower alone'")
    print("leaves out the linear layers; 'without': 1 storing, 2 weights, 4 planes and heads")
    for batch, layouts in tables.items():
        planes = torch.randn(batch, 2, 6, 7, device="cuda")
        graphs = {"cuDNN fused": captured(cudnn_network(network, planes))}
        for label, layout in layouts.items():
            run = tower_network(network, planes, layout, binaries[layout], "alone" in label)
            graphs[f"{label} ({layout.warpgroups}×{layout.boards})"] = captured(run)
        for label, best in best_seconds(graphs).items():
            print(f"{batch:>7,}  {label:<38}{batch / best / 1e6:6.2f}  {best * 1e6:7.1f} µs")
        print_differences(graphs, network, planes)


def plans_to_time(shape, batch):
    """The layouts to time, by label; the largest batch has more."""
    chosen = choose_layout(shape, batch, MULTIPROCESSORS)
    layouts = {"tower": chosen, "tower alone": chosen}
    layouts |= {f"tower {w}×{b}": TowerLayout(shape, w, b) for w, b in ((2, 5), (2, 4), (3, 4))}
    if batch == BATCHES[-1]:
        layouts |= {
            f"tower, stagger {ns}": TowerLayout(shape, 2, 5, stagger=ns) for ns in (0, 700, 3000)
        }
        layouts |= {
            f"tower 3×4, stagger {ns}": TowerLayout(shape, 3, 4, stagger=ns) for ns in (0, 700)
        }
        for warpgroups, boards, registers in ((2, 5, 168), (2, 4, 136), (3, 4, 128)):
            layout = TowerLayout(shape, warpgroups, boards, registers=registers)
            layouts[f"tower in {layout.block_registers:,} registers"] = layout
    return layouts


def time_parts():
    shape, batch = shape_of("connect-four", 4, 64), MULTIPROCESSORS * 10 * 12
    print(f"tower alone, batch {batch:,} = 12 full rounds of 2×5; left out: 1 storing, 2 weights,")
    print("4 planes and heads; tensor share = products' cycles at 1.755 GHz over the time taken")
    layouts = {
        f"2×5 without {omit}": TowerLayout(shape, 2, 5, omit=omit) for omit in (0, 1, 2, 3, 4)
    }
    layouts |= {f"3×4 without {omit}": TowerLayout(shape, 3, 4, omit=omit) for omit in (0, 1, 2, 3)}
    binaries = compile_all(layouts.values())
    network = drawn("connect-four", 4, 64)
    planes = torch.randn(batch, 2, 6, 7, device="cuda")
    graphs = {
        label: captured(tower_network(network, planes, layout, binaries[layout], is_alone=True))
        for label, layout in layouts.items()
    }
    for label, best in best_seconds(graphs).items():
        layout = layouts[label]
        tiles = batch / layout.tile_boards / MULTIPROCESSORS
        cycles = tiles * layout.warpgroups * layout.products * layout.padded / 2
        share = cycles / 1.755e9 / best
        print(f"{label:<28}{batch / best / 1e6:6.2f} M/s  {best * 1e6:7.1f} µs  {share:.2f}")
    print("clocks under load:", clocks(graphs["2×5 without 0"]))


def cudnn_network(network, planes):
    """A function that evaluates the planes with cuDNN's fused calls."""
    stem, _, *blocks = network.body
    last = torch.channels_last
    inputs = torch.zeros((len(planes), 8, *planes.shape[2:]), device="cuda").bfloat16()
    inputs = inputs.contiguous(memory_format=last)
    stem_weight = functional.pad(stem.weight, (0, 0, 0, 0, 0, 8 - planes.shape[1]))
    convolutions = [conv for block in blocks for conv in (block.first, block.second)]
    heads = torch.cat([network.policy[0].weight, network.value[0].weight])
    weights = [stem_weight, *[conv.weight for conv in convolutions], heads]
    weights = [weight.bfloat16().contiguous(memory_format=last) for weight in weights]
    biases = [
        bias[: len(weight)]
        for bias, weight in zip(pack_biases(network).bfloat16(), weights, strict=True)
    ]
    read = cublas_heads(network)
    same, one = [1, 1], [1, 1]

    def run():
        inputs[:, : planes.shape[1]].copy_(planes)
        x = torch.cudnn_convolution_relu(inputs, weights[0], biases[0], one, same, one, 1)
        for i in range(1, len(weights) - 1, 2):
            inner = torch.cudnn_convolution_relu(x, weights[i], biases[i], one, same, one, 1)
            x = torch.cudnn_convolution_add_relu(
                inner, weights[i + 1], x, 1.0, biases[i + 1], one, same, one, 1
            )
        x = torch.cudnn_convolution_relu(x, weights[-1], biases[-1], one, [0, 0], one, 1)
        return read(x.permute(0, 2, 3, 1).flatten(1, 2))

    return run


def tower_network(network, planes, layout, binary, is_alone=False):
    """A function that evaluates the planes with the fused tower and the heads' kernel."""
    tower = Tower(layout, binary)
    tower.load(network)
    batch = len(planes)
    out = torch.empty((batch, 42, 64), device="cuda").bfloat16()
    heads = Heads(network, HeadsLayout(heads_shape_of("connect-four")))
    buffers = heads.make_buffers(batch)
    answers = torch.empty((batch, 7), device="cuda"), torch.empty((batch, 1), device="cuda")

    def run():
        tower(planes, out)
        if is_alone:
            return None
        heads(out, *answers, buffers)
        return answers

    return run


def print_differences(graphs, network, planes):
    """Prints the largest differences of logits and values from float32."""
    with torch.inference_mode():
        expected = network(planes)
    shown = list(graphs)[:2]
    for label, (graph, result, _) in graphs.items():
        if result is None or label not in shown:
            continue
        graph.replay()
        torch.cuda.synchronize()
        errors = [
            (result[0] - expected.logits).abs().max().item(),
            (result[1][:, 0] - expected.values).abs().max().item(),
        ]
        print(f"         {label}: logits off by {errors[0]:.4f}, values by {errors[1]:.4f}")


def clocks(captured_graph):
    """Clock and power while the graph is replayed for about 1.5 seconds."""
    query = "--query-gpu=clocks.sm,power.draw,clocks_event_reasons.active"
    command = ["nvidia-smi", query, "--format=csv,noheader"]
    for _ in range(1500):
        captured_graph[0].replay()
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=10)
        return asked.stdout.strip() or asked.stderr.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    finally:
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
