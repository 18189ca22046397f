"""Short PTX, read."""

from softgpu.ptx import parse

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def kernel(body: str, registers: str = ".reg .pred %p<99>; .reg .b32 %r<99>;"):
    """The function of a kernel with this body."""
    module = parse(f"{HEAD}.visible .entry k() {{ {registers}\n{body}\n}}")
    return module.functions["k"]
