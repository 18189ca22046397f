"""A class: learners' folders are safe."""

import re
from types import SimpleNamespace

import pytest
from traitlets.config import Config

from tests import ROOT

DEPLOY = ROOT / "publish/deploy"


def configured():
    """What JupyterHub reads in the class's configuration."""
    config, path = Config(), DEPLOY / "jupyterhub_config.py"
    exec(compile(path.read_text(), str(path), "exec"), {"get_config": lambda: config})
    return config


@pytest.mark.parametrize("name", ["../etc", "a/b", "Ada", "", "a" * 33, "1a", "a b"])
def test_names_that_are_no_folder_do_not_come_in(name):
    assert not re.fullmatch(configured().Authenticator.username_pattern, name)


def test_a_home_is_made_once_and_kept(monkeypatch, tmp_path):
    given = []
    monkeypatch.setenv("CLASS_HOMES", str(tmp_path / "a class"))
    monkeypatch.setattr("shutil.chown", lambda *arguments: given.append(arguments))
    spawner = SimpleNamespace(user=SimpleNamespace(name="ada"))
    config = configured()
    for _ in range(2):
        config.Spawner.pre_spawn_hook(spawner)
    assert given == [(tmp_path / "a class/ada", 1000, 1000)] and given[0][0].is_dir()
