"""Networks, and the backends that compute them.

Reading order:

1. `config.py`: the options of a network, and what `auto` stands for. Loads without PyTorch.
2. `architectures.py`: the PyTorch modules.
3. `network_evaluators.py`: the protocol of all backends, and the choice of the fastest one.
4. `backends/`: on the CPU, by PyTorch, 8-bit integers or ONNX Runtime.
5. `gpu/`: on a GPU; see its own reading order.
6. `symmetry_average.py`: the mean over a game's symmetries.
7. `weights.py`, `export.py`: files of weights, and ONNX files.
8. `torch_private.py`: the private operators of PyTorch in use, with public replacements.
9. `sample_positions.py`: positions to calibrate and measure with.
"""
