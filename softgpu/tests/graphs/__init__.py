"""Graphs: what is recorded, and what a launch of it does."""
