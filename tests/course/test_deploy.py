"""A class: the hub's files agree with each other and with the image, and folders are safe."""

import json
import re
from types import SimpleNamespace

import pytest
import yaml
from traitlets.config import Config

from tests import ROOT

DEPLOY = ROOT / "publish/deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
VALUES = yaml.safe_load((DEPLOY / "values.yaml").read_text())


def configured(name="jupyterhub_config.py"):
    """What JupyterHub reads in a configuration."""
    config = Config()

    def load(path):
        exec(compile((DEPLOY / path).read_text(), path, "exec"), names)

    names = {"__file__": str(DEPLOY / name), "get_config": lambda: config}
    names["load_subconfig"] = lambda path: load("jupyterhub_config.py")
    load(name)
    return config


def test_one_machine_and_kubernetes_are_the_same_class():
    config, one = configured(), VALUES["singleuser"]
    hub = VALUES["hub"]["config"]
    for name in "NativeAuthenticator", "Authenticator":
        assert hub[name] == json.loads(json.dumps(config[name], default=sorted))
    assert config.Spawner.default_url == one["defaultUrl"]
    assert config.Spawner.cmd == one["cmd"]
    assert config.Spawner.start_timeout == one["startTimeout"]
    assert config.Spawner.http_timeout == hub["Spawner"]["http_timeout"] == one["startTimeout"]
    assert config.Spawner.mem_limit == one["memory"]["limit"]
    assert config.Spawner.cpu_limit == one["cpu"]["limit"]
    assert config.Spawner.environment == one["extraEnv"]
    assert list(config.DockerSpawner.volumes.values()) == [one["storage"]["homeMountPath"]]
    (culler,) = config.JupyterHub.services
    assert f"--timeout={VALUES['cull']['timeout']}" in culler["command"]


def test_learners_are_the_image_s_user_in_its_folder():
    image = (ROOT / "Dockerfile").read_text()
    assert f"--uid {VALUES['singleuser']['uid']}" in image
    assert f"WORKDIR {configured().Spawner.notebook_dir}\n" in image
    assert "COPY requirements.txt begin.sh /opt/class/\n" in (DEPLOY / "Dockerfile").read_text()
    assert configured().Spawner.cmd == ["sh", "/opt/class/begin.sh"]


def test_hub_and_servers_are_of_one_version():
    pins = dict(re.findall(r"^(\S+)==(\S+)$", (DEPLOY / "requirements.txt").read_text(), re.M))
    hub = COMPOSE["services"]["hub"]["build"]["dockerfile_inline"]
    assert hub.startswith(f"FROM quay.io/jupyterhub/jupyterhub:{pins['jupyterhub']}\n")
    native = "jupyterhub-nativeauthenticator"
    assert f"{native}=={pins[native]}" in hub


def test_the_hub_reads_every_setting_that_compose_passes(monkeypatch):
    text = (DEPLOY / "jupyterhub_config.py").read_text()
    settings = COMPOSE["services"]["hub"]["environment"]
    assert set(settings) == set(re.findall(r'"(CLASS_\w+)"', text))
    defaults = [configured().Spawner[name] for name in ("cpu_limit", "mem_limit", "environment")]
    for name, value in settings.items():
        monkeypatch.setenv(name, value.removeprefix(f"${{{name}:-").removesuffix("}"))
    config = configured()
    assert [config.Spawner[name] for name in ("cpu_limit", "mem_limit", "environment")] == defaults
    assert config.Authenticator.admin_users == {"teacher"}
    assert config.DockerSpawner.network_name == COMPOSE["networks"]["class"]["name"]
    monkeypatch.setenv("CLASS_CORES", "4")
    monkeypatch.setenv("CLASS_SOLUTIONS", "0")
    assert configured().Spawner.environment == {"SOFTGPU_THREADS": "4", "COURSE_SOLUTIONS": "0"}


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
