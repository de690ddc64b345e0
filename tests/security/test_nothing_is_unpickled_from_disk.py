"""Reading a file never runs code: no pickle and the like, but for what the processes of one run send each other."""

import ast
import re
from pathlib import Path

import pytest

from curator_core.parameters.signature import parameters_of
from curator_core.registry import default_registry

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("core/src/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")])
# These unpickle from memory what the same run sent through Ray, or check that a stage could be sent.
WIRE = {
    f"core/src/curator_core/{name}"
    for name in (
        "executors/ray_data_blocks.py",
        "executors/ray/shipping.py",
        "executors/streaming/shell/chunk_codec.py",
        "run/outputs.py",  # in the memory of one process
    )
} | {
    f"plugins/devkit/src/curator_devkit/testing/{name}.py"
    for name in ("behaviour_checks", "comparison", "declaration_checks")
}
# These hand on what a user may allow for one stage, by a parameter that is off unless set.
ALLOWED_BY_PARAMETER = {
    *(f"core/src/curator_core/authoring/models/{name}.py" for name in ("model_stage", "pretrained")),
    *(f"plugins/text/src/curator_text/models/{name}.py" for name in ("classify", "embed")),
    "plugins/image/src/curator_image/image_encoder.py",
    "plugins/video/src/curator_video/embed.py",
}
HANDED_ON = re.compile(r"(allow_pickle|trust_remote_code)=(self|settings|self\.settings)\.\1")
LOADERS = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal", "jsonpickle"}
RISKY = {"torch.load", "numpy.load", "np.load", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "pandas.read_pickle"}
RUNS_CODE = {"eval", "exec", "compile", "__import__"}
UNPACKS = {"extractall", "unpack_archive"}


def findings(source):
    """Return what a module does that could run code from a file."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [f"import {alias.name}" for alias in node.names if alias.name.partition(".")[0] in LOADERS]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in LOADERS:
            found.append(f"from {node.module}")
        elif isinstance(node, ast.ImportFrom):
            found += [f"from {node.module} import {alias.name}" for alias in node.names if alias.name in LOADERS]
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            is_risky = name in RISKY or name in RUNS_CODE or name.rpartition(".")[2] in UNPACKS
            found += [f"{name}()"] if is_risky else []
        if isinstance(node, ast.keyword) and node.arg in ("allow_pickle", "trust_remote_code"):
            is_off = isinstance(node.value, ast.Constant) and node.value.value is False
            found += [] if is_off else [f"{node.arg}={ast.unparse(node.value)}"]
    return found


def test_the_search_finds_what_it_looks_for():
    source = """
import pickle
from ray import cloudpickle
import joblib.memory
torch.load(f)
np.load(f, allow_pickle=True)
tarfile.open(f).extractall(".")
eval(text)
model(trust_remote_code=self.trust)
"""
    assert len(findings(source)) == 9
    assert findings("np_like.load(f, allow_pickle=False)\nre.compile('x')\n") == []


def test_no_module_reads_code_from_a_file():
    assert len(SOURCES) > 100
    found = {path.relative_to(ROOT).as_posix(): findings(path.read_text(encoding="utf-8")) for path in SOURCES}
    for path in WIRE:
        found[path] = [each for each in found[path] if each not in ("import pickle", "from ray import cloudpickle")]
    for path in ALLOWED_BY_PARAMETER:
        found[path] = [each for each in found[path] if not HANDED_ON.fullmatch(each)]
    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize("stage", ["audio.asr", "image.embed", "text.classify", "text.embed", "video.embed"])
def test_what_can_be_allowed_is_off_unless_a_user_says_so(stage):
    parameters = parameters_of(default_registry().stage_class(stage))
    assert parameters["allow_pickle"].default is False
    assert parameters["trust_remote_code"].default is False


@pytest.mark.parametrize("path", sorted(WIRE))
def test_what_is_unpickled_never_comes_from_a_file(path):
    """Those modules open no files at all, and load from buffers only."""
    calls = [node for node in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(node, ast.Call)]
    names = {ast.unparse(node.func) for node in calls}
    assert not names & {"open", "pickle.load", "cloudpickle.load"}
    reading = {"read_bytes", "read_text", "fdopen", "memmap", "memory_map", "open_filesystem"}
    assert not {name.rpartition(".")[2] for name in names} & reading
