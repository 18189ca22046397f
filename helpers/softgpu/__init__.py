"""A GPU in software: CUDA kernels run on the processor."""
