"""Kernels are compiled when a filter is set up, and never while documents pass."""

import json
import subprocess
import sys

_PROGRAM = """
import json, sys

import pyarrow as pa

from curator_core.registry import make_stage
from curator_core.authoring.stage import NodeInfo, WorkerInfo
from curator_text import DocumentBatch

texts = ["One line.\\n\\nAnother one, with more words than the first.", None, "", "caf\\u00e9 \\u4e2d\\u6587 " * 50]
columns = [
    pa.array([], pa.string()),
    pa.array([None], pa.string()),
    pa.array(texts[:1], pa.string()),
    pa.array(texts, pa.string()),
    pa.array(texts, pa.large_string()),
    pa.array(texts * 3, pa.string())[5:9],
    pa.chunked_array([texts, texts], pa.string()),
    pa.array(texts, pa.string()).dictionary_encode(),
]
recipes = ("gopher", "c4", "fineweb", "nemo_english")
stages = [stage for recipe in recipes for stage in make_stage("text.heuristics", recipe=recipe).decompose()]
code = ("general_comment_to_code", "number_of_lines_of_code", "xml_header", "alpha", "html_boilerplate")
named = {"general_comment_to_code": {"language": "text/x-c"}}
stages += [make_stage(f"text.{name}", **named.get(name, {})) for name in code]
for stage in stages:
    stage.setup_on_node(NodeInfo())
    stage.setup(WorkerInfo())


def compiled():
    modules = [name for name in sys.modules if name.startswith("curator_text.kernels.")]
    found = [each for name in modules for each in vars(sys.modules[name]).items() if hasattr(each[1], "signatures")]
    kernels = {name: each for name, each in found if each.targetoptions.get("no_cpython_wrapper") is None}
    return {name: len(each.signatures) for name, each in kernels.items()}


before = compiled()
for column in columns:
    for stage in stages:
        stage.process(DocumentBatch(data=pa.table({"text": column})))
print(json.dumps([before, compiled()]))
"""


def test_documents_of_any_make_up_compile_nothing_more():
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    before, after = json.loads(done.stdout.splitlines()[-1])
    assert len(before) > 10
    assert after == before
    assert set(before.values()) == {1}
