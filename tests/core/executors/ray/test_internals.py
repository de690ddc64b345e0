"""Private parts of Ray: only one file touches them, and runs come to the same without any of them."""

import ast
import inspect
import json
import logging
import mmap
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from curator_core.executors.ray import cluster, internals, notes
from curator_core.values.errors import ClusterError

ROOT = Path(__file__).parents[4]
ALLOWED = "core/src/curator_core/executors/ray/internals.py"
SOURCES = [
    path
    for folder in (ROOT / "core/src", *sorted(ROOT.glob("plugins/*/src")))
    for path in sorted(folder.rglob("*.py"))
    if path != ROOT / ALLOWED
]
PROGRAM = Path(__file__).with_name("without_internals") / "program.py"
# Modules by their names, variables of the raylet's settings, and resources that Ray keeps for itself.
PRIVATE_NAME = re.compile(r"ray(\.\w+)*\.(_\w+|experimental|core)(\.\w+)*|RAY_[a-z]\w*|.*__internal_\w+")
PRIVATE_ATTRIBUTE = re.compile(r"(\w+\.)*_?ray(\(\))?(\.\w+(\(\))?)*\.(_[a-z]\w*|experimental|core)(\.\w+)*")


def private_parts(source):
    """Return the lines of a module that touch private parts of Ray."""
    if not re.search(r"(\b|_)ray\b|RAY_|__internal_", source):
        return []  # as most are, which are not worth parsing
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{each.name}" for each in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]
        elif isinstance(node, ast.Call):
            is_ray = re.fullmatch(r"(\w+\.)*_?ray(\(\))?\.\w+", ast.unparse(node.func).replace("import_ray", "ray"))
            names = [f"ray.{each.arg}" for each in node.keywords if is_ray and each.arg]
        elif isinstance(node, ast.Attribute):
            is_private = PRIVATE_ATTRIBUTE.fullmatch(ast.unparse(node).replace("import_ray", "ray"))
            names = ["ray._private"] if is_private else []
        else:
            continue
        found |= {node.lineno for name in names if PRIVATE_NAME.fullmatch(name)}
    return sorted(found)


def test_one_file_alone_touches_private_parts_of_ray():
    found = {str(path.relative_to(ROOT)): private_parts(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert len(found) > 200
    assert {path: lines for path, lines in found.items() if lines} == {}
    assert private_parts((ROOT / ALLOWED).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "line",
    [
        "import ray._private.worker as worker",
        "from ray._private import state",
        "from ray.experimental.internal_kv import get",
        "from ray.util import _internal",
        "import_module('ray._raylet')",
        "ray._private.worker.global_worker",
        "import_ray()._private",
        "self._ray.core.generated",
        "ray.get_runtime_context()._worker",
        "import_ray().init(_temp_dir='/tmp')",
        "os.environ['RAY_worker_niceness'] = '0'",
        "'node:__internal_head__' in resources",
    ],
)
def test_private_parts_are_found(line):
    assert private_parts(line) == [1]


@pytest.mark.parametrize("line", ["self._ray.get(ref)", "from ray.util import placement_group", "x = 'RAY_ADDRESS'"])
def test_public_parts_are_not(line):
    assert private_parts(line) == []


def test_the_installed_ray_has_the_settings_of_its_raylet():
    """Ray ignores variables that it does not know."""
    import ray

    names = [name.removeprefix("RAY_") for name in internals.SETTINGS if name.startswith("RAY_") and name[4].islower()]
    assert names
    with (
        (Path(ray.__file__).parent / "core/src/ray/raylet/raylet").open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program,
    ):
        assert [name for name in names if program.find(name.encode()) < 0] == []


def run_without_internals(folder):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RAY_ADDRESS")}
    environment["PYTHONPATH"] = os.pathsep.join([str(PROGRAM.parent), *sys.path])
    return subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)],
        cwd=PROGRAM.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


@pytest.mark.slow
def test_runs_on_a_ray_without_any_of_them_come_to_the_same(tmp_path):
    done = run_without_internals(tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["nodes"] == [[True, 2.0]]
    assert found["folder_variable"] == os.environ.get("RAY_TMPDIR"), "it is as it was once Ray has started"
    numbers = [2 * number for number in range(20) if number != 5]
    assert found["streaming"] == [numbers, [["Kill", "5", "WorkerDiedError"]]]
    assert found["ray_data"] == [numbers, []]
    late = "lost was given up for lost, and its tasks were given to another worker"
    *in_time, after = found["leases"]
    assert in_time == ["written", late, "written"]
    assert after.startswith("other cannot ask Ray whether it may still write")
    assert found["files"] == ["first.txt", "other.txt"]
    told = re.findall(r"Ray \S+ has no (\S+) as curator knows it", done.stderr)
    assert sorted(told) == [
        "ENABLE_RAY_CLUSTER",
        "available_resources_per_node",
        "get_job_config",
        "internal_kv",
        "iter_internal_ref_bundles",
        "node:__internal_head__",
        "print_to_stdstream",
        "start_api_server",
        "start_log_monitor",
        "start_monitor",
    ], "each is told once"


@pytest.fixture
def hide(monkeypatch):
    """Hide modules of Ray from curator; Ray itself does not miss them."""
    internals.say_missing.cache_clear()
    usual = internals.import_module

    def hide(*names):
        def import_module(name):
            if name in names:
                raise ImportError(name)
            return usual(name)

        monkeypatch.setattr(internals, "import_module", import_module)

    yield hide
    internals.say_missing.cache_clear()


@pytest.fixture
def told(hide, caplog):
    """Return what was logged of missing parts."""
    caplog.set_level(logging.WARNING, internals.__name__)
    return lambda: [record.getMessage() for record in caplog.records if record.name == internals.__name__]


def test_what_is_missing_is_told_once_with_the_version_of_ray(told):
    import ray

    for _ in range(2):
        internals.say_missing("this", "that is slower")
    assert told() == [f"Ray {ray.__version__} has no this as curator knows it: that is slower"]


def test_unused_processes_are_left_out_and_their_methods_are_restored():
    from ray._private.node import Node

    usual = dict(vars(Node))
    with suppress(OSError), internals.only_needed_processes():
        assert [name for name, value in usual.items() if vars(Node)[name] is not value] == [
            "start_log_monitor",
            "start_api_server",
            "start_monitor",
        ]
        raise OSError("Ray cannot be started")
    assert dict(vars(Node)) == usual


def test_a_method_with_another_signature_is_not_replaced(told, monkeypatch):
    from ray._private.node import Node

    def start_monitor(self, head):
        return head

    monkeypatch.setattr(Node, "start_monitor", start_monitor)
    monkeypatch.delattr(Node, "start_log_monitor")
    with internals.only_needed_processes():
        assert Node.start_monitor is start_monitor
        assert not hasattr(Node, "start_log_monitor")
        assert "lambda" in Node.start_api_server.__qualname__
    assert Node.start_monitor is start_monitor
    assert [re.findall(r"has no (\w+)", line) for line in told()] == [["start_monitor"], ["start_log_monitor"]]


def test_messages_are_printed_where_they_cannot_be_handed_over(told, monkeypatch):
    from ray._private import worker

    def usual(data, ignore_prefix):
        """Print as Ray does; the Ray of other tests has its own messages handed over."""

    monkeypatch.setattr(worker, "print_to_stdstream", usual)
    taken = []
    with internals.messages_to(taken.append):
        worker.print_to_stdstream({"lines": ["a node died"], "pid": "raylet"}, ignore_prefix=False)
    assert worker.print_to_stdstream is usual
    assert taken == [{"lines": ["a node died"], "pid": "raylet"}]

    def print_to_stdstream(data, ignore_prefix, color):
        """Print as another version of Ray might."""

    monkeypatch.setattr(worker, "print_to_stdstream", print_to_stdstream)
    with internals.messages_to(taken.append):
        assert worker.print_to_stdstream is print_to_stdstream
    assert len(told()) == 1


@pytest.fixture
def loopback_variable_is_unknown(monkeypatch, hide):
    hide("ray._private.ray_constants")
    monkeypatch.setattr("ray.util.get_node_ip_address", lambda: "10.0.0.1")


def test_a_ray_that_anyone_may_use_is_not_started_on_the_network(loopback_variable_is_unknown, told, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(ClusterError, match="would listen on the network, and RAY_AUTH_MODE lets anyone in"):
        cluster._start(1, 0, Path("unused"))
    assert len(told()) == 1
    monkeypatch.setattr("ray.util.get_node_ip_address", lambda: "127.0.0.1")  # as the public variable makes it
    with internals.on_loopback() as is_inner:
        assert is_inner


def test_a_ray_on_the_loopback_that_cannot_be_joined_says_how(loopback_variable_is_unknown, monkeypatch):
    monkeypatch.setattr(cluster, "speaks_grpc", lambda host, port: host == "127.0.0.1")
    with pytest.raises(ClusterError) as caught:
        cluster._join("127.0.0.1:6379", None, None)
    assert "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0" in str(caught.value)


def test_where_no_cluster_can_be_looked_for_ray_itself_looks(hide, told, monkeypatch):
    hide("ray._private.services")
    assert internals.find_local_cluster() == "auto"
    assert len(told()) == 1
    asked = []
    monkeypatch.setattr("ray.init", lambda **options: asked.append(options["address"]))
    cluster._join("auto", None, None)
    assert asked == ["auto"]


def test_folders_of_a_job_are_filtered_when_they_are_serialized(monkeypatch):
    from ray.job_config import JobConfig

    def sent(config):
        config._py_driver_sys_path.extend(["/kept", "/foreign"])
        return config._serialize()

    def keep(folders):
        return [folder for folder in folders if folder == "/kept"]

    assert b"/foreign" not in sent(internals.make_job_config(keep))
    assert b"/kept" in sent(internals.make_job_config(keep))

    def serialize(self, form=None, usual=JobConfig._serialize):
        return usual(self)

    monkeypatch.setattr(JobConfig, "_serialize", serialize)
    assert type(internals.make_job_config(keep)) is JobConfig


def test_a_worker_is_asked_for_its_search_path_where_ray_does_not_tell(ray_session, hide, told, monkeypatch):
    import ray

    hide("ray._private.worker")
    cluster._check_search_path()
    assert len(told()) == 1
    folder = Path(ray.__file__).parent / "_private/workers"  # of the program that each worker runs
    monkeypatch.setattr(sys, "argv", [str(folder / "script.py")])
    with pytest.raises(ClusterError, match=f"would import modules from .*{re.escape(str(folder))}"):
        cluster._check_search_path()


def test_a_head_without_mark_is_told_by_its_address(ray_session):
    import ray

    nodes = [dict(node, Resources={"CPU": 1.0}) for node in ray.nodes()]
    nodes.append({"NodeID": "other", "NodeManagerAddress": "10.0.0.2", "Resources": {}})
    assert internals.head_node_ids(nodes) == internals.head_node_ids(ray.nodes()) == {nodes[0]["NodeID"]}


def test_what_is_free_is_known_of_a_single_node_only(ray_session, hide, told, monkeypatch):
    known = internals.free_resources()
    hide("ray._private.state")
    assert internals.free_resources() == known
    assert len(told()) == 1
    monkeypatch.setattr("ray.nodes", lambda: [{"NodeID": name, "Alive": True} for name in "ab"])
    assert internals.free_resources() == {}


@pytest.mark.parametrize("hidden", [(), ("ray.experimental.internal_kv",)], ids=["control store", "actor"])
def test_notes_are_kept_until_the_run_ends(ray_session, hide, told, hidden):
    hide(*hidden)
    with notes.keep_notes("run-of-notes"):
        assert notes.read_note("run-of-notes", "call/1") is None
        notes.remove_note("run-of-notes", "call/1")
        notes.write_note("run-of-notes", "call/1", "first")
        notes.write_note("run-of-notes", "call/1", "")
        notes.write_note("run-of-notes", "call/2", "second")
        assert [notes.read_note("run-of-notes", f"call/{number}") for number in (1, 2)] == ["", "second"]
        notes.remove_note("run-of-notes", "call/2")
        assert notes.read_note("run-of-notes", "call/2") is None
    assert len(told()) == len(hidden)
    if not hidden:
        assert notes.read_note("run-of-notes", "call/1") is None


def test_a_control_store_that_is_called_in_another_way_is_not_used(monkeypatch):
    from ray.experimental import internal_kv

    assert internals.control_store() is not None
    monkeypatch.setattr(internal_kv, "_internal_kv_put", lambda key, value: None)
    assert internals.control_store() is None


def test_a_function_of_ray_that_cannot_be_inspected_is_not_called():
    assert not internals._takes(None)
    assert internals._parameters(len) is None
    assert internals._parameters(inspect.isclass) == ("object",)
