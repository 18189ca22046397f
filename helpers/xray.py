"""The course's door to softgpu.xray: on the GPU that autoinit chose, for kernels of helpers.sources
and files of cuda_src, too. helpers.xray.NAME is softgpu.xray.NAME."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

from softgpu import xray
from softgpu.xray import launch

from . import autoinit  # noqa: F401  (PyCUDA binds to the driver that it chooses)

__all__ = [*xray.__all__, "play"]  # noqa: F822


def function_of(kernel: Any) -> Any:
    """PyCUDA's function of a kernel: the name of a file, a text, or a pair of a text and a name."""
    from pycuda.driver import Function

    from . import kernels, sources

    if isinstance(kernel, kernels.NoKernel):
        kernel()  # says why
    if isinstance(kernel, Function) or launch.is_call(kernel):
        return kernel
    words = (kernel,) if isinstance(kernel, str) else launch.text_and_name(kernel)
    return launch.with_all_shared(sources.kernel(*words))


def _of_the_course(look: Callable) -> Callable:
    """A function of xray, for what function_of takes."""

    @wraps(look)
    def with_kernel(kernel: Any, *args: Any, **named: Any) -> Any:
        return look(function_of(kernel), *args, **named)

    return with_kernel


profile = _of_the_course(xray.profile)
sanitize = _of_the_course(xray.sanitize)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"helpers.xray has no {name!r}; there is {', '.join(__all__)}")
    if name == "play":
        return import_module(".play", __package__).launch
    return getattr(xray, name)


def __dir__() -> list[str]:
    return __all__
