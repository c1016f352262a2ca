"""Networks, and what evaluates positions with them.

Read in this order: `config.py` (which network), `architectures.py` (PyTorch modules),
`evaluators.py` (the inference engines behind one protocol), `averaging.py` (over a game's
symmetries), `weights.py` (files), `exporting.py` (ONNX). Only `config.py` loads without PyTorch.
"""
