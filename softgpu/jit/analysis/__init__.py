"""Analyses of a function, run before code is emitted for it."""
