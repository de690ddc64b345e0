"""The examples in the packages' read-me files work."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READMES = sorted([*ROOT.glob("core/README.md"), *ROOT.glob("plugins/*/README.md")])


def blocks(language):
    """Return every code block of a language, with the package's folder as its test's name."""
    return [
        pytest.param(block, id=readme.parent.name)
        for readme in READMES
        for block in re.findall(rf"^```{language}\n(.*?)^```", readme.read_text(), flags=re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize("code", blocks("python"))
def test_python_example_runs(code):
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize("text", blocks("yaml"))
def test_pipeline_example_is_valid(text):
    from curator_core.pipelines.pipeline_file import load_pipeline

    loaded = load_pipeline(text, variables=dict.fromkeys(re.findall(r"\$\{(\w+)\}", text), "somewhere"))
    assert len(loaded.pipeline.stages) > 1


def test_there_are_examples_to_test():
    assert len(blocks("python")) >= 1
    assert len(blocks("yaml")) >= 4
