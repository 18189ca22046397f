"""Both ways to launch for xray: as PyCUDA's driver, and beside another one."""

from types import SimpleNamespace

import pytest

from softgpu import build


@pytest.fixture
def beside_another_driver(tmp_path, monkeypatch):
    """Another copy of the library, under a name of its own, takes the place of the real GPU's."""
    from softgpu import loader
    from softgpu.xray import launch

    copy = tmp_path / "libcudx.so.1"
    copy.write_bytes(build.build().read_bytes().replace(b"libcuda.so.1", copy.name.encode()))
    monkeypatch.setattr(loader, "build", SimpleNamespace(build=lambda: copy))
    monkeypatch.setattr(launch.Engine, "_driver", None)
    launch._beside.cache_clear()
    yield
    launch._beside.cache_clear()
