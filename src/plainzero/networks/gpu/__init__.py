"""Networks on a GPU.

Reading order:

1. `backend.py`: the evaluator, and batches that searches on the same GPU fill and read.
2. `gpu_network.py`: the protocol of an implementation; `choose_network.py` measures which of them
   is fastest for a network and batch size, and caches the choice.
3. `eager_network.py` runs any network, `cudnn_network.py` residual networks in bf16.
4. `fused_network.py`: a small board's network in two launches of CUDA C++, the residual tower
   (`tower.cu`, with `tower.py`, `tower_layout.py` and `tower_weights.py`) and the heads
   (`heads.cu`, likewise). `cublas_heads.py` replaces the latter for games with many actions.
5. `nvrtc.py` compiles and launches that code; `graphs.py` records CUDA graphs.
"""
