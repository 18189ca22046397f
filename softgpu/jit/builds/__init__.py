"""The four builds of a kernel."""
