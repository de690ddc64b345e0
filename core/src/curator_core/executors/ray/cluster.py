"""Join a Ray cluster, or start a quiet one on this machine, for as long as a run lasts."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray import import_ray
from curator_core.executors.ray.address import is_loopback, speaks_grpc, split_address
from curator_core.executors.ray.internals import (
    LOOPBACK_VARIABLE,
    SETTINGS,
    find_local_cluster,
    job_search_path,
    make_job_config,
    on_loopback,
    only_needed_processes,
    start_ray,
)
from curator_core.executors.ray.nodes import list_nodes
from curator_core.executors.ray.output import quiet_ray
from curator_core.executors.ray.own_session import (
    AUTH_MODE_VARIABLE,
    FOLDER_VARIABLE,
    make_token_private,
    private_ray_folder,
)
from curator_core.executors.ray.shipping import driver_search_path
from curator_core.values.errors import ClusterError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from curator_core.executors.ray.nodes import NodeResources

__all__ = ["ClusterInfo", "connect"]

_ADDRESS_VARIABLE = "RAY_ADDRESS"
# Ray leaves these in the environment of the process that starts it.
_LEFT_BY_RAY = (AUTH_MODE_VARIABLE, "RAY_CLIENT_MODE", "RAY_USAGE_STATS_ENABLED", "PYTHONBREAKPOINT")


@dataclass(frozen=True)
class ClusterInfo:
    """The cluster a run is connected to.

    Args:
        nodes: Its machines when the run joined.
        owns: Whether curator started it, for this process alone.
    """

    nodes: tuple[NodeResources, ...]
    owns: bool


@contextmanager
def connect(
    address: str | None = None,
    cpus: int | None = None,
    gpus: int | None = None,
    log_path: str | os.PathLike[str] | None = None,
) -> Iterator[ClusterInfo]:
    """Connect this process to Ray for the length of a ``with`` block.

    A Ray that this process is already connected to is used as it is and left running. Otherwise the cluster at
    ``address`` (or ``RAY_ADDRESS``) is joined, or a Ray of our own is started: on the loopback interface only, for
    those who have the token in this user's home (unless ``RAY_AUTH_MODE`` says otherwise), without a dashboard, with
    the fraction of memory for its object store that Ray takes by default, and with files that only this user can open
    and that are removed in the end. Its workers import modules from this process's ``sys.path`` only, which Ray's own
    default is not. The last block to end shuts down what the first one started.

    Args:
        address: ``host:port`` of a cluster's head, ``auto`` for a cluster that runs on this machine.
        cpus: Logical CPUs of a Ray that is started here; those of the machine unless given.
        gpus: Logical GPUs of a Ray that is started here; those of the machine unless given.
        log_path: File for Ray's own messages.

    Raises:
        ClusterError: The address is not that of a running cluster, or the running Ray is another one than asked for.
        ConfigError: The arguments contradict each other.
        MissingPackageError: Ray is not installed.
    """
    import_ray()
    with quiet_ray(log_path):
        _session.enter(address, cpus, gpus)
        try:
            yield ClusterInfo(nodes=list_nodes(), owns=_session.is_ours)
        finally:
            _session.leave()


class _Session:
    """The connection of this process, shared by runs that overlap; Ray knows only one per process."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._users = 0
        self._cleanup: ExitStack | None = None
        self.is_ours = False

    def enter(self, address: str | None, cpus: int | None, gpus: int | None) -> None:
        with self._lock:
            if import_ray().is_initialized():
                _check_running_session(address, cpus, gpus)
            else:
                self._open(address, cpus, gpus)
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._cleanup is not None:
                cleanup, self._cleanup, self.is_ours = self._cleanup, None, False
                cleanup.close()

    def _open(self, address: str | None, cpus: int | None, gpus: int | None) -> None:
        address = address or os.environ.get(_ADDRESS_VARIABLE)
        is_ours = address in (None, "", "local")
        with ExitStack() as cleanup:
            cleanup.enter_context(_restored_environment(_LEFT_BY_RAY))
            own_handler = cleanup.enter_context(_restored_signal_handler())
            folder = cleanup.enter_context(private_ray_folder()) if is_ours else None
            cleanup.callback(import_ray().shutdown)
            if folder is not None:
                _start(cpus, gpus, folder)
            else:
                assert address is not None
                _join(address, cpus, gpus)
            _check_search_path()
            if callable(own_handler):  # of a program that means to stop in its own way, which Ray has replaced
                signal.signal(signal.SIGTERM, own_handler)
            self._cleanup, self.is_ours = cleanup.pop_all(), is_ours


_session = _Session()


def _start(cpus: int | None, gpus: int | None, folder: Path) -> None:
    with _restored_environment((*SETTINGS, FOLDER_VARIABLE)), on_loopback() as is_inner, only_needed_processes():
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)  # what the user has set stays
        if os.environ.get(AUTH_MODE_VARIABLE, "token") == "token":  # what Ray does where the user says nothing
            make_token_private(os.environ)
        elif not is_inner:
            raise ClusterError(
                f"Ray {import_ray().__version__} would listen on the network, and {AUTH_MODE_VARIABLE} lets anyone in",
                fix=f"unset {AUTH_MODE_VARIABLE}, or set {LOOPBACK_VARIABLE}=0 before this program starts",
            )
        start_ray(
            str(folder),
            # "local" starts one in any case; without it Ray joins whatever else runs on the machine.
            address="local",
            num_cpus=cpus,
            num_gpus=gpus,
            include_dashboard=False,
            log_to_driver=False,
            job_config=make_job_config(_known_to_the_driver),
        )


def _join(address: str, cpus: int | None, gpus: int | None) -> None:
    if cpus is not None or gpus is not None:
        raise ConfigError(
            f"cpus and gpus size a Ray that is started here, but the cluster at {address} has its own",
            fix=f"leave them out, or unset {_ADDRESS_VARIABLE} and leave address out to start a Ray here",
        )
    ray = import_ray()
    head = find_local_cluster() if address == "auto" else address
    if head is None:
        raise _unreachable(address)
    with ExitStack() as mode:
        if head != "auto":
            host, port = split_address(head)
            # Ray replaces the loopback by the machine's outer address, where a Ray of ours does not listen.
            is_inner = is_loopback(host) and not speaks_grpc(ray.util.get_node_ip_address(), port)
            if (is_inner or not is_loopback(host)) and not speaks_grpc(host, port):
                raise _unreachable(address)
            if is_inner and not mode.enter_context(on_loopback()):
                raise ClusterError(
                    f"Ray {ray.__version__} looks for {address} on the network, where that Ray does not listen",
                    fix=f"set {LOOPBACK_VARIABLE}=0 before this program starts",
                )
            head = f"{host}:{port}"
        try:
            ray.init(address=head, log_to_driver=False, job_config=make_job_config(_known_to_the_driver))
        except (ConnectionError, RuntimeError, SystemExit) as error:
            raise ClusterError(
                f"cannot join the Ray cluster at {address}: {error}",
                fix="use the cluster's Ray and Python versions and its authentication token, on one of its machines",
            ) from error


def _unreachable(address: str) -> ClusterError:
    where = "on this machine" if address == "auto" else f"at {address}"
    return ClusterError(
        f"there is no Ray cluster {where}",
        fix="check the address with `ray status` on the head (the port is 6379 unless changed, not the dashboard's "
        f"8265), or leave out address and unset {_ADDRESS_VARIABLE} to start a Ray here",
    )


def _check_running_session(address: str | None, cpus: int | None, gpus: int | None) -> None:
    ray = import_ray()
    running = ray.get_runtime_context().gcs_address
    if address not in (None, "", "auto", running):
        raise ClusterError(
            f"this process is already connected to the Ray at {running}, but address is {address!r}",
            fix="leave address out, or call ray.shutdown() first",
        )
    total = ray.cluster_resources()
    for name, asked, found in (("cpus", cpus, total.get("CPU", 0.0)), ("gpus", gpus, total.get("GPU", 0.0))):
        if asked is not None and asked != found:
            raise ClusterError(
                f"this process is already connected to a Ray with {found:g} {name}, but {name} is {asked}",
                fix=f"leave {name} out, or call ray.shutdown() first",
            )


def _known_to_the_driver(folders: Iterable[str]) -> list[str]:
    """Return those folders where this process finds modules too; the folder of a script and of a notebook remain."""
    known = set(driver_search_path())
    return [folder for folder in folders if os.path.abspath(folder) in known]  # noqa: PTH100 - strings go in and out


def _check_search_path() -> None:
    """Check that the workers of this job import from the driver's search path only.

    Ray puts the current folder at the front of the search path of every worker. Whoever runs a pipeline in a folder of
    downloads would then import an ``orjson.py`` that lies beside the data.
    """
    sent = job_search_path()
    foreign = sorted(set(sent) - set(_known_to_the_driver(sent)))
    if foreign:
        raise ClusterError(
            f"workers of Ray {import_ray().__version__} would import modules from {', '.join(foreign)}, which is not "
            "on the search path of this process",
            fix="use another version of Ray, or start the pipeline in an empty folder",
        )


@contextmanager
def _restored_environment(names: Iterable[str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _restored_signal_handler() -> Iterator[Any]:
    """Undo Ray's handler for SIGTERM when the connection ends; yield the one before, where it can be set.

    Signals belong to the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield None
        return
    usual = signal.getsignal(signal.SIGTERM)
    try:
        yield usual
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, usual)
