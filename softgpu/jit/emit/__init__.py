"""The vocabulary in which functions are written as LLVM text."""
