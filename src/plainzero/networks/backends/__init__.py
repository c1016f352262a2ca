"""Backends that compute a network on the CPU: PyTorch, 8-bit integers, ONNX Runtime."""
