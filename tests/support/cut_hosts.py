"""Hosts that are network namespaces of this machine, with links that can be cut. Needs root and ``ip`` (iproute2).

The head is a namespace with a bridge, to which every other host has a link. Nothing leads out of them.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

HEAD = "head"
# The processes of Ray that nothing here uses are left out: on two cores, three hosts take long enough to start.
START_RAY = """
from curator_core.executors.ray.internals import only_needed_processes
from ray.scripts.scripts import main
with only_needed_processes():
    main()
"""
NETWORK = "10.77.0"
PORT = 6379
START_S = 400


class NoHostsError(Exception):
    """This machine has no namespaces for us."""


def ip(*arguments):
    """Run ``ip``; raise what it says where it fails."""
    try:
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=30, check=False)
    except FileNotFoundError as error:
        raise NoHostsError("ip is not installed (Debian package iproute2)") from error
    if done.returncode:
        raise NoHostsError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


class Hosts:
    """A head and some workers, each with a raylet of its own once :meth:`start_ray` was called.

    Args:
        names: Names of the workers.
        settings: Of Ray, for the processes on all hosts.
    """

    def __init__(self, *names, **settings):
        self.names = names
        self._prefix = f"cut-{os.getpid()}-{token_hex(2)}-"
        self._guard = None
        self._folder = Path(tempfile.mkdtemp(prefix="cut-", dir="/tmp"))  # sockets need a short path
        # Ray's own processes and those that join them; nobody else has the token.
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_raylet_start_wait_time_s": str(START_S),  # on a busy machine, Ray's own waits are too short
            "RAY_agent_register_timeout_ms": str(1_000 * START_S),
            **settings,
        }

    @property
    def address(self):
        return f"{NETWORK}.1:{PORT}"

    def address_of(self, name):
        """Return the address of a worker."""
        return f"{NETWORK}.{self.names.index(name) + 2}"

    def make(self):
        """Make the namespaces and the links between them; a process that outlives this one will remove them."""
        guard = [sys.executable, __file__, str(self._folder), *map(self._prefix.__add__, (HEAD, *self.names))]
        self._guard = subprocess.Popen(guard, stdin=subprocess.PIPE, start_new_session=True)
        self._make_one(HEAD)
        self._in(HEAD, "link", "add", "name", "eth0", "type", "bridge")
        self._set_up(HEAD, 1)
        for number, name in enumerate(self.names, start=2):
            self._make_one(name)
            ends = ["name", self._port(name), "type", "veth", "peer", "name", "eth0", "netns", self._prefix + name]
            self._in(HEAD, "link", "add", *ends)
            self._in(HEAD, "link", "set", self._port(name), "master", "eth0", "up")
            self._set_up(name, number)

    def start_ray(self):
        """Start the head without CPUs, so that all work is done on the other hosts, and two CPUs on each of those."""
        head = ["--head", f"--port={PORT}", "--num-cpus=0", "--include-dashboard=false"]
        self._wait_for(self._start_raylet(HEAD, 1, *head, f"--temp-dir={self._folder}"))
        joining = [
            self._start_raylet(name, number, f"--address={self.address}", "--num-cpus=2")
            for number, name in enumerate(self.names, start=2)
        ]
        for each in joining:
            self._wait_for(each)

    def popen(self, name, *command, **options):
        """Start a command on a host."""
        command = ["ip", "netns", "exec", self._prefix + name, *command]
        return subprocess.Popen(command, env=self.environment, text=True, **options)

    def cut(self, name):
        """Pull the cable of a host."""
        self._in(HEAD, "link", "set", self._port(name), "down")

    def restore(self, name):
        """Put it back."""
        self._in(HEAD, "link", "set", self._port(name), "up")

    def remove(self):
        """Kill every process on the hosts, and remove them."""
        if self._guard is not None:
            self._guard.stdin.close()
            with suppress(subprocess.TimeoutExpired):  # it goes on by itself; what went wrong before is to be shown
                self._guard.wait(60)

    def _make_one(self, name):
        ip("netns", "add", self._prefix + name)
        self._in(name, "link", "set", "lo", "up")

    def _set_up(self, name, number):
        """Give a host its address, and a route, by which Ray finds out what the address is."""
        self._in(name, "address", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
        self._in(name, "link", "set", "eth0", "up")
        self._in(name, "route", "add", "default", "dev", "eth0")

    def _start_raylet(self, name, number, *arguments):
        command = [sys.executable, "-c", START_RAY, "start", f"--node-ip-address={NETWORK}.{number}"]
        command += [*arguments, "--object-store-memory=200000000", "--disable-usage-stats"]
        if name != HEAD:  # as on a machine of its own: hosts that start at the same time would take the same names
            mounts = f"mount -t tmpfs cut {self._folder} && mount -t tmpfs cut /dev/shm"
            command = ["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh", *command]
        log = self._folder / f"{name}.log"
        with log.open("w") as file:  # before the mounts, so that it can be read from here
            return self.popen(name, *command, stdout=file, stderr=subprocess.STDOUT), log

    @staticmethod
    def _wait_for(started):
        process, log = started
        assert process.wait(START_S) == 0, log.read_text()[-3000:]

    def _in(self, name, *arguments):
        return ip("-netns", self._prefix + name, *arguments)

    @staticmethod
    def _port(name):
        return f"to-{name}"


@contextmanager
def hosts(*names, **settings):
    """Make hosts with Ray for the length of a block; whatever happens, nothing of them is left."""
    made = Hosts(*names, **settings)
    try:
        made.make()
        made.start_ray()
        yield made
    finally:
        made.remove()


def remove_namespaces(names):
    """Kill every process in some namespaces, and remove them."""
    for _ in range(100):
        left = []
        for name in names:
            with suppress(NoHostsError):
                left += map(int, ip("netns", "pids", name).split())
        for process in left:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        if not left:
            break
        time.sleep(0.1)
    for name in names:
        with suppress(NoHostsError):
            ip("netns", "delete", name)


if __name__ == "__main__":  # the guard: whoever started it closes its input, or dies, and then the hosts go
    sys.stdin.read()
    remove_namespaces(sys.argv[2:])
    shutil.rmtree(sys.argv[1], ignore_errors=True)
