"""The conformance suite: small kernels whose answers were recorded once on an NVIDIA H200."""
