"""What a kernel declares, and what is wrong with arguments for it: softgpu.xray's."""

from softgpu.xray.parameters import Parameter, check, parameters

__all__ = ["Parameter", "check", "parameters"]
