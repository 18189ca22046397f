"""A class: learners' folders are safe, and a rehearsal is the real thing."""

import re
from types import SimpleNamespace

import pytest
from traitlets.config import Config

from tests import ROOT

DEPLOY = ROOT / "publish/deploy"


def configured(name="jupyterhub_config.py"):
    """What JupyterHub reads in a configuration."""
    config = Config()

    def load(path):
        exec(compile((DEPLOY / path).read_text(), path, "exec"), names)

    names = {"__file__": str(DEPLOY / name), "get_config": lambda: config}
    names["load_subconfig"] = lambda path: load("jupyterhub_config.py")
    load(name)
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


def test_a_rehearsal_changes_nothing_but_where_servers_run(monkeypatch, tmp_path):
    settings = {"HOMES": str(tmp_path), "LAB": "/a lab", "URL": "http://127.0.0.1:1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"CLASS_{name}", value)
    rehearsed = configured("rehearsal_config.py")
    assert rehearsed.NativeAuthenticator == configured().NativeAuthenticator
    assert rehearsed.Spawner.default_url == configured().Spawner.default_url
    assert "cd '/a lab' && . publish/deploy/begin.sh" in rehearsed.Spawner.cmd[2]
