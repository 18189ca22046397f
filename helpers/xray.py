"""The course's door to softgpu.xray: on the GPU that autoinit chose, for kernels of helpers.sources
and files of cuda_src, too. helpers.xray.NAME is softgpu.xray.NAME."""

from importlib import import_module

from softgpu import xray
from softgpu.xray import launch

from . import autoinit  # noqa: F401  (PyCUDA binds to the driver that it chooses)

__all__ = [*xray.__all__, "play"]  # noqa: F822


def _kernel_of(kernel):
    """What xray launches where it is given the name of a file, or a text with one."""
    from . import kernels, sources

    if isinstance(kernel, kernels.NoKernel):
        kernel()  # says why
    if isinstance(kernel, str):
        return sources.kernel(kernel)
    return sources.kernel(*launch.text_and_name(kernel))


launch.kernel_of = _kernel_of


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"helpers.xray has no {name!r}; there is {', '.join(__all__)}")
    if name == "play":
        return import_module(".play", __package__).launch
    if name.startswith("draw_"):
        import_module(".plots", __package__)  # what is drawn is a Picture of the course's
    return getattr(xray, name)


def __dir__():
    return __all__
