"""A class on one machine: who may come in, and what each of them gets. compose.yaml runs it."""

import os
import shutil
from pathlib import Path

c = get_config()  # noqa: F821
homes = Path(os.environ.get("CLASS_HOMES", "/srv/class"))  # the same path outside the hub
lab = "/home/learner/course"
cores = int(os.environ.get("CLASS_CORES", "2"))


def make_home(spawner):
    """A learner's folder, which outlives their server: `grade` takes all of them as handed in."""
    home = homes / spawner.user.name
    if not home.exists():
        home.mkdir(parents=True)
        shutil.chown(home, 1000, 1000)  # the image's user


c.JupyterHub.authenticator_class = "native"
c.NativeAuthenticator.open_signup = True
c.NativeAuthenticator.minimum_password_length = 10
c.NativeAuthenticator.allowed_failed_logins = 5
c.Authenticator.allow_all = True
c.Authenticator.admin_users = set(os.environ.get("CLASS_TEACHERS", "teacher").split())
c.Authenticator.username_pattern = "[a-z][a-z0-9]{0,31}"  # names a folder as it is

c.JupyterHub.hub_ip = "0.0.0.0"  # within the class's network
c.JupyterHub.hub_connect_ip = "hub"
c.JupyterHub.spawner_class = "docker"
c.DockerSpawner.image = "gpu-kernels-class"
c.DockerSpawner.network_name = "class"
c.DockerSpawner.remove = True
c.DockerSpawner.volumes = {f"{homes}/{{username}}": f"{lab}/work"}
c.DockerSpawner.extra_host_config = {
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "pids_limit": 512,
}
c.Spawner.pre_spawn_hook = make_home
c.Spawner.cmd = ["sh", "/opt/class/begin.sh"]
c.Spawner.notebook_dir = lab
c.Spawner.default_url = "/lab/tree/work/00_first_kernel.ipynb"
c.Spawner.cpu_limit = cores
c.Spawner.mem_limit = os.environ.get("CLASS_MEMORY", "2G")
c.Spawner.environment = {
    "SOFTGPU_THREADS": str(cores),
    "COURSE_SOLUTIONS": os.environ.get("CLASS_SOLUTIONS", "1"),
}
c.Spawner.start_timeout = c.Spawner.http_timeout = 300  # all of a class may come in one minute

c.JupyterHub.load_roles = [
    {
        "name": "cull",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["cull"],
    }
]
c.JupyterHub.services = [
    {"name": "cull", "command": ["python3", "-m", "jupyterhub_idle_culler", "--timeout=3600"]}
]
