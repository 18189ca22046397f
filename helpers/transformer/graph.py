"""A CUDA graph: the launches of a stream, recorded once and launched again together.

PyCUDA has no graphs, so this calls the driver through ctypes."""

import ctypes
from collections.abc import Callable
from typing import Any

__all__ = ["Graph"]

RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: other calls of this thread may go on


class Graph:
    """What `queue` queues on a stream, which is not the default one."""

    def __init__(self, stream: Any, queue: Callable[[], Any]) -> None:
        self.stream = stream
        self.driver = ctypes.CDLL("libcuda.so.1")
        graph, self.whole = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuStreamBeginCapture_v2", self._handle, RELAXED)
        try:
            queue()
        finally:
            self._call("cuStreamEndCapture", self._handle, ctypes.byref(graph))
        made = ctypes.byref(self.whole), graph, ctypes.c_uint64(0)
        self._call("cuGraphInstantiateWithFlags", *made)
        self._call("cuGraphDestroy", graph)

    @property
    def _handle(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.stream.handle)

    def _call(self, name: str, *arguments: Any) -> None:
        if code := getattr(self.driver, name)(*arguments):
            raise RuntimeError(f"{name} failed with CUDA's error {code}")

    def launch(self) -> None:
        """Queue all of it on the stream."""
        self._call("cuGraphLaunch", self.whole, self._handle)

    def close(self) -> None:
        """Free the graph, once its last launch has finished."""
        if self.whole:
            self._call("cuGraphExecDestroy", self.whole)
            self.whole = ctypes.c_void_p()
