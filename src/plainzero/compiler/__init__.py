"""Turns plain Python methods and kernels into machine code, for the CPU and for NVIDIA GPUs.

Knows nothing of games or search. In reading order:

- `bind_rules`: a method becomes a plain function; `refused_syntax`: what rules cannot use
- `cpu_kernels`: entry points on the CPU; `inner_functions`: cheaper compilation of what they call
- `source_digest`: the sources that cached code depends on; `code_names`: the names that a
  function uses; `warn_once`
- `gpu_kernels`: entry points on a GPU; `gpu_memory`: arrays there
- `gpu_source`: functions rewritten for NVIDIA's compiler by `fold_options` and `unsigned_loops`
- `gpu_ptx`: the same code compiled without a GPU
- `record_types`: records whose fields are attributes
"""
