"""The class's configuration without containers: a learner is a process, and has no limits."""

import os
import shlex
from pathlib import Path

c = get_config()  # noqa: F821
load_subconfig(str(Path(__file__).with_name("jupyterhub_config.py")))  # noqa: F821
homes, lab = os.environ["CLASS_HOMES"], os.environ["CLASS_LAB"]

c.JupyterHub.bind_url = os.environ["CLASS_URL"]
c.JupyterHub.hub_ip = c.JupyterHub.hub_connect_ip = "127.0.0.1"
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.services, c.JupyterHub.load_roles = [], []
c.SimpleLocalProcessSpawner.home_dir_template = f"{homes}/{{username}}"
c.Spawner.pre_spawn_hook = None
c.Spawner.notebook_dir = f"{homes}/{{username}}"
c.Spawner.environment["HELPERS_WORK"] = lambda spawner: f"{homes}/{spawner.user.name}/work"
# JupyterLab's, which is not installed beside the hub
c.Spawner.environment["JUPYTER_CONFIG_PATH"] = f"{lab}/.venv/etc/jupyter"
c.Spawner.environment["JUPYTER_PATH"] = f"{lab}/.venv/share/jupyter"
c.Spawner.args = ["--allow-root"] if os.geteuid() == 0 else []
c.Spawner.cmd = ["sh", "-c", f'cd {shlex.quote(lab)} && . publish/deploy/begin.sh "$@"', "sh"]
