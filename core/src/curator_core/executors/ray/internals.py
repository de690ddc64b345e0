"""The private parts of Ray that curator uses. No other file touches any.

Each part is looked for when it is used. Where the installed Ray lacks it, or has it in another form, a run does without
it, and the log says once what is lost. All were seen in Ray 2.60, the oldest that core accepts.
"""

from __future__ import annotations

import inspect
import logging
import os
import sys
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray import import_ray
from curator_core.executors.ray.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "LOOPBACK_VARIABLE",
    "SETTINGS",
    "blocks_of",
    "control_store",
    "find_local_cluster",
    "free_resources",
    "head_node_ids",
    "job_search_path",
    "make_job_config",
    "messages_to",
    "on_loopback",
    "only_needed_processes",
    "say_missing",
    "start_ray",
]

_log = logging.getLogger(__name__)

SETTINGS = {
    # CPU workers keep seeing no GPU rather than an emptied list of GPUs.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    # What nobody needs leaves the object store ten times a second: in one, a fast stage makes hundreds of megabytes.
    "RAY_free_objects_period_milliseconds": "100",
    # Who connects to a process that is just starting tries again after 20 ms, not a second, and for as long as always.
    "RAY_raylet_client_connect_timeout_milliseconds": "20",
    "RAY_raylet_client_num_connect_attempts": "500",
    # Workers run at the priority of this process. With Ray's own default, a niceness of 15, they get a thirtieth of a
    # core that they share with anything else, and take minutes to start on a busy machine.
    "RAY_worker_niceness": "0",
}
"""Variables for the processes of a Ray that is started here. A Ray that does not know one ignores it, and is slower."""

LOOPBACK_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Set to 0 before Ray is imported, it lets Ray take 127.0.0.1 for the address of this machine."""

_HEAD_RESOURCE = "node:__internal_head__"
_UNUSED_PROCESSES: dict[str, tuple[str, ...]] = {
    "start_api_server": ("self", "include_dashboard", "raise_on_failure"),
    "start_monitor": ("self",),
    "start_log_monitor": ("self",),
}


def start_ray(folder: str, **options: Any) -> None:
    """Call ``ray.init`` so that Ray keeps its files in a folder.

    The argument ``_temp_dir`` is private. Without it, the variable ``RAY_TMPDIR`` does the same; all processes of Ray
    inherit that, so the caller restores the environment.
    """
    ray = import_ray()
    try:
        ray.init(**options, _temp_dir=folder)
    except (RuntimeError, TypeError) as error:  # raised for unknown arguments, before anything is started
        if "_temp_dir" not in str(error):
            raise
        os.environ["RAY_TMPDIR"] = folder
        ray.init(**options)


@contextmanager
def only_needed_processes() -> Iterator[None]:
    """Start neither the dashboard's server, nor the autoscaler, nor the log monitor with a Ray that is started inside.

    A Ray of our own has no dashboard to serve, no machines to add and no output of workers to forward. It starts a
    Python process for each all the same and waits for it, which is half of what starting and ending it takes. Ray has
    no option against that, so the methods that start them are replaced meanwhile. Without that, Ray starts more slowly.
    """
    node = _find("ray._private.node", "Node")
    with ExitStack() as replaced:
        for name, parameters in _UNUSED_PROCESSES.items():
            replaced.enter_context(
                _replaced(node, name, parameters, lambda *_, **__: None, "it starts processes that nothing here uses")
            )
        yield


@contextmanager
def on_loopback() -> Iterator[bool]:
    """Let Ray take 127.0.0.1 for the address of this machine, as it does on macOS and Windows; yield whether it does.

    Otherwise a Ray that is started here listens on the network, and one that listens on the loopback only cannot be
    joined. The public way is :data:`LOOPBACK_VARIABLE`, which Ray reads when it is imported.
    """
    constants = _find("ray._private.ray_constants")
    usual = getattr(constants, "ENABLE_RAY_CLUSTER", None)
    if not isinstance(usual, bool):
        is_inner = is_loopback(import_ray().util.get_node_ip_address())
        if not is_inner:
            say_missing("ENABLE_RAY_CLUSTER", "a Ray that is started here listens on the network, for its token only")
        yield is_inner
        return
    constants.ENABLE_RAY_CLUSTER = False
    try:
        yield True
    finally:
        constants.ENABLE_RAY_CLUSTER = usual


def find_local_cluster() -> str | None:
    """Return the address of a cluster that runs on this machine, None if there is none.

    With the address, a head that does not answer is noticed in seconds; ``ray.init`` tries for minutes. Where Ray does
    not tell it, the answer is ``auto``, and ``ray.init`` looks for the cluster itself.
    """
    find = _find("ray._private.services", "canonicalize_bootstrap_address")
    if not _takes(find, "auto"):
        say_missing("canonicalize_bootstrap_address", "it takes longer to notice that no cluster runs here")
        return "auto"
    try:
        with on_loopback():
            found: str | None = find("auto")
    except ConnectionError:
        return None
    return found


@contextmanager
def messages_to(take: Callable[[Mapping[str, Any]], None]) -> Iterator[None]:
    """Hand over the messages of the cluster, which Ray prints on standard output, where data belongs.

    Each has ``lines`` and a ``pid``, and comes from a thread of Ray. Without this, they are printed.
    """
    worker = _find("ray._private.worker")
    seen = ("data", "ignore_prefix")
    with _replaced(worker, "print_to_stdstream", seen, lambda data, **_: take(data), "it prints its messages"):
        yield


def make_job_config(keep: Callable[[Iterable[str]], list[str]]) -> Any:
    """Return the settings of a Ray job whose workers import from those folders only that ``keep`` returns.

    Ray adds folders to the settings just before it sends them, so they are filtered when they are serialized. Where
    that is done in another way, all are sent: check :func:`job_search_path`.
    """
    from ray.job_config import JobConfig

    class Filtered(JobConfig):
        def _serialize(self) -> Any:
            self._py_driver_sys_path = keep(self._py_driver_sys_path)
            self._cached_pb = None
            return super()._serialize()

    config: Any = JobConfig()
    fields = {"_py_driver_sys_path", "_cached_pb"}
    if fields <= vars(config).keys() and _parameters(getattr(JobConfig, "_serialize", None)) == ("self",):
        config = Filtered()
    return config


def job_search_path() -> Sequence[str]:
    """Return the folders from which workers of this job import, beside those of their Python.

    Where Ray does not tell which settings were sent, a worker is asked for the folders that Ray is known to add, the
    current one and that of the script; starting a worker takes a second.
    """
    worker = _find("ray._private.worker", "global_worker")
    try:
        return list(worker.core_worker.get_job_config().py_driver_sys_path)
    except AttributeError:
        say_missing("get_job_config", "a worker is started to check its search path")
    added = {os.path.abspath(os.path.curdir), os.path.dirname(os.path.realpath(sys.argv[0]))}  # noqa: PTH100, PTH120
    ray = import_ray()
    # A lambda is sent as code. A function would be imported, perhaps from one of these folders.
    found = ray.get(ray.remote(num_cpus=0, max_retries=0)(lambda: sys.path).remote())
    return sorted(added & set(found))


def head_node_ids(nodes: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the ids of those of ``ray.nodes()`` that are the cluster's head.

    Ray marks it with a resource. Without that, it is told by its address, which all nodes of one machine share.
    """
    marked = {node["NodeID"] for node in nodes if _HEAD_RESOURCE in node["Resources"]}
    ray = import_ray()
    if marked or not ray.is_initialized():  # to ask for the address would start a Ray
        return marked
    say_missing(_HEAD_RESOURCE, "the head of the cluster is told by its address")
    host = ray.get_runtime_context().gcs_address.rpartition(":")[0].strip("[]")
    return {node["NodeID"] for node in nodes if node["NodeManagerAddress"] == host}


def free_resources() -> dict[str, dict[str, float]]:
    """Return what is free on each node, as far as Ray tells.

    The public functions tell the sum over the cluster only. Without the private one, that is enough for a single node;
    of several nothing is known, and a run tries to reserve all of a node and goes without it if that is refused.
    """
    ask = _find("ray._private.state", "available_resources_per_node")
    if _takes(ask):
        return dict(ask())
    say_missing("available_resources_per_node", "a run does not know what is free on each node of a cluster")
    ray = import_ray()
    alive = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    return {alive[0]: dict(ray.available_resources())} if len(alive) == 1 else {}


def blocks_of(dataset: Any) -> Iterator[Any]:
    """Execute a dataset of Ray Data; return its blocks as they are made.

    ``iter_batches``, which is public, leaves a thread behind for every dataset; it is used where Ray Data does not give
    out the blocks themselves.
    """
    ray = import_ray()
    bundle_class = _find("ray.data._internal.execution.interfaces", "RefBundle")
    if hasattr(bundle_class, "block_refs") and _takes(getattr(dataset, "iter_internal_ref_bundles", None)):
        bundles = dataset.iter_internal_ref_bundles()
        return (ray.get(ref) for bundle in bundles for ref in bundle.block_refs)
    say_missing("iter_internal_ref_bundles", "Ray Data leaves a thread behind for every window of tasks")
    return iter(dataset.iter_batches(batch_size=None, batch_format="pyarrow"))


def control_store() -> dict[str, Callable[..., Any]] | None:
    """Return ``get``, ``put`` and ``del`` of Ray's control store, which all processes of a cluster share.

    Their interface for Python is private; None where it is not as curator knows it.
    """
    module = "ray.experimental.internal_kv"
    get, put, remove = (_find(module, f"_internal_kv_{name}") for name in ("get", "put", "del"))
    if _takes(get, b"") and _takes(put, b"", b"", overwrite=True) and _takes(remove, b"", del_by_prefix=True):
        return {"get": get, "put": partial(put, overwrite=True), "del": remove}
    return None


@cache
def say_missing(part: str, loss: str) -> None:
    """Log what is lost because this version of Ray lacks a part, once in a process."""
    _log.warning("Ray %s has no %s as curator knows it: %s", import_ray().__version__, part, loss)


def _find(module: str, name: str | None = None) -> Any:
    """Return a module of Ray, or what it calls by a name; None where the installed Ray has none."""
    try:
        found = import_module(module)
    except ImportError:
        return None
    return found if name is None else getattr(found, name, None)


def _takes(function: Any, *arguments: Any, **named: Any) -> bool:
    """Return whether something can be called like this."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(*arguments, **named)
    except (TypeError, ValueError):
        return False
    return True


def _parameters(function: Any) -> tuple[str, ...] | None:
    """Return the names of a plain function's parameters; None of anything else."""
    return tuple(inspect.signature(function).parameters) if inspect.isfunction(function) else None


@contextmanager
def _replaced(
    owner: Any, name: str, parameters: tuple[str, ...], replacement: Callable[..., Any], loss: str
) -> Iterator[None]:
    """Replace a function of Ray while a block lasts, if it is a plain function with these parameters."""
    usual = getattr(owner, name, None)
    if _parameters(usual) != parameters:
        say_missing(name, loss)
        yield
        return
    setattr(owner, name, replacement)
    try:
        yield
    finally:
        setattr(owner, name, usual)
