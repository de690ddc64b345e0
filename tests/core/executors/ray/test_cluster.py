"""Joining and starting Ray: quiet, on the loopback only, reused where it runs, and clear about what is wrong."""

import http.server
import os
import socket
import subprocess
import sys
import tempfile
import threading

import pytest

from curator_core.executors.ray.address import speaks_grpc, split_address
from curator_core.executors.ray.cluster import connect
from curator_core.executors.ray.own_session import private_ray_folder
from curator_core.values.errors import ClusterError, ConfigError

OWN_SESSION = """
import logging, os, pathlib, signal, stat, sys
from curator_core.executors.ray.cluster import connect

before = dict(os.environ)
handler = signal.getsignal(signal.SIGTERM)
with connect(cpus=3, log_path=sys.argv[1]) as cluster:
    import ray

    (node,) = cluster.nodes
    assert cluster.owns and node.is_head and node.cpus == 3, cluster
    assert ray.nodes()[0]["NodeManagerAddress"] == "127.0.0.1"
    import psutil  # comes with Ray

    processes = psutil.Process().children(recursive=True)
    sockets = [each for process in processes for each in process.net_connections("tcp") if each.status == "LISTEN"]
    open_to_others = {each.laddr.ip.removeprefix("::ffff:") for each in sockets} - {"127.0.0.1", "::1"}
    assert sockets and not open_to_others, open_to_others
    programs = {pathlib.PurePath(word).name for process in processes for word in process.cmdline() if "=" not in word}
    assert "raylet" in programs, programs
    assert not {"dashboard.py", "monitor.py", "log_monitor.py"} & programs, "Ray runs what nothing here uses"
    from ray._private.authentication.authentication_utils import is_token_auth_enabled

    assert is_token_auth_enabled()
    token = pathlib.Path.home() / ".ray" / "auth_token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE(token.parent.stat().st_mode) == 0o700
    changed = {name for name, value in os.environ.items() if before.get(name) != value}
    assert not [name for name in changed if name.startswith(("RAY_ACCEL", "RAY_raylet"))], changed

    @ray.remote(num_cpus=0, max_restarts=0)
    class Worker:
        def environment(self):
            return dict(os.environ)

        def niceness(self):
            return os.nice(0)

        def die(self):
            os._exit(1)

    worker = Worker.remote()
    assert ray.get(worker.environment.remote())["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] == "0"
    assert ray.get(worker.niceness.remote()) == os.nice(0), "workers have a lower priority than the driver"
    try:
        ray.get(worker.die.remote())
    except ray.exceptions.RayActorError:
        pass
    with connect() as inner:
        assert inner.owns and inner.nodes == cluster.nodes
    assert ray.is_initialized()
assert not ray.is_initialized()
assert signal.getsignal(signal.SIGTERM) == handler
assert os.environ.get("RAY_AUTH_MODE") == before.get("RAY_AUTH_MODE")
assert logging.getLogger("ray").handlers, "Ray's own handlers are back"
"""

JOIN = """
import sys
from curator_core.executors.ray.cluster import connect

with connect(address=sys.argv[1]) as cluster:
    assert not cluster.owns
    print(*(node.node_id for node in cluster.nodes))
"""


def run_python(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


def test_a_ray_of_our_own_is_quiet_private_and_leaves_nothing_behind(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    done = run_python(OWN_SESSION, str(tmp_path / "run.log"), RAY_ADDRESS="", HOME=str(home))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "Started a local Ray instance" in (tmp_path / "run.log").read_text()


def test_a_folder_for_ray_that_does_not_exist_is_made(monkeypatch):
    with tempfile.TemporaryDirectory() as root:  # short, as the paths of sockets must be
        monkeypatch.setenv("RAY_TMPDIR", f"{root}/a/b")
        with private_ray_folder() as folder:
            assert folder.parent.is_dir()
            assert folder.is_relative_to(f"{root}/a/b")


def test_a_folder_for_ray_that_cannot_be_made_is_an_error_that_says_so(monkeypatch):
    with tempfile.NamedTemporaryFile() as file:
        monkeypatch.setenv("RAY_TMPDIR", f"{file.name}/a")
        with pytest.raises(ClusterError, match="Not a directory"), private_ray_folder():
            pass


def test_another_process_can_join(ray_session):
    import ray

    done = run_python(JOIN, ray.get_runtime_context().gcs_address)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [node.node_id for node in ray_session.nodes]


def test_a_running_ray_is_reused_and_left_running(ray_session):
    import ray

    with connect() as cluster:
        assert cluster.nodes == ray_session.nodes
    with connect(cpus=2, address=ray.get_runtime_context().gcs_address):
        pass
    assert ray.is_initialized()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"cpus": 5}, "with 2 cpus, but cpus is 5"),
        ({"gpus": 1}, "with 4 gpus, but gpus is 1"),
        ({"address": "head:6379"}, "but address is 'head:6379'"),
    ],
)
def test_a_running_ray_that_is_not_the_one_asked_for_is_an_error(ray_session, asked, message):
    with pytest.raises(ClusterError, match=message), connect(**asked):
        pass


def test_overlapping_blocks_share_the_session(ray_session):
    import ray

    first, second = connect(), connect()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert ray.get(ray.put(1)) == 1
    second.__exit__(None, None, None)


BAD_ADDRESS = """
import sys, time
from curator_core.values.errors import CuratorError
from curator_core.executors.ray.cluster import connect

for keywords in ({"address": sys.argv[1]}, {"address": sys.argv[2]}, {"address": sys.argv[1], "cpus": 2}):
    try:
        with connect(**keywords):
            pass
    except CuratorError as error:
        print(type(error).__name__, error.message)
"""


def test_an_address_where_no_ray_is_fails_at_once():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        closed = f"127.0.0.1:{unused.getsockname()[1]}"
        done = run_python(BAD_ADDRESS, closed, f"127.0.0.1:{server.server_port}")
    server.shutdown()
    server.server_close()
    nobody, not_ray, contradiction = done.stdout.splitlines()
    assert nobody == f"ClusterError there is no Ray cluster at {closed}"
    assert not_ray == f"ClusterError there is no Ray cluster at 127.0.0.1:{server.server_port}"
    assert contradiction.startswith("ConfigError cpus and gpus size a Ray that is started here")


@pytest.mark.parametrize("address", ["head", "head:", ":6379", "head:port", "ray://head:10001"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(ConfigError, match="address"):
        split_address(address)


def test_a_ray_head_is_told_from_other_servers(ray_session):
    import ray

    assert speaks_grpc(*split_address(ray.get_runtime_context().gcs_address))
