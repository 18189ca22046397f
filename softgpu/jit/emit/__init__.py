"""Building blocks for emitting functions as LLVM text."""
