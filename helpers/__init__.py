"""The course's helpers."""
