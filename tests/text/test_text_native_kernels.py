"""Kernels whose machine code is kept: no numba once it is there, nothing run that is damaged or misfits."""

import subprocess
import sys
import types

import numpy as np
import polars as pl
import pytest

from curator_text.kernels.machine_code import MachineCode
from curator_text.kernels.native import Argument, NativeKernel
from curator_text.metrics.boilerplate_strings import BOILERPLATE, PLACEHOLDER, STRINGS
from curator_text.metrics.repeats import REPEATS
from curator_text.metrics.surface import SURFACE

_PROGRAM = """
import sys
import polars as pl
from curator_text.metrics.boilerplate_strings import BOILERPLATE
BOILERPLATE.prepare()
was_compiled = "numba" in sys.modules
print(was_compiled, BOILERPLATE.of_texts(pl.Series(["a\\n\\nterms of use"])).row(0))
"""


def test_a_second_process_needs_no_numba_and_damaged_code_is_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setenv("CURATOR_CACHE_DIR", str(tmp_path))

    def run():
        done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
        return done.stdout

    assert run() == "True (2, 1, 0)\n"
    assert run() == "False (2, 1, 0)\n"
    (path,) = tmp_path.glob("*/boilerplate_counts-*.code")
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    assert run() == "True (2, 1, 0)\n"
    assert len(path.read_bytes()) == len(content)


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:200] + b"?" + data[201:], lambda _: b""])
def test_damaged_files_are_told_from_whole_ones(damage):
    code = MachineCode("symbol", bytes(range(256)))
    assert MachineCode.from_bytes(code.to_bytes()) == code
    assert MachineCode.from_bytes(damage(code.to_bytes())) is None


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(4, np.int32),
        np.zeros((2, 2), np.int64),
        np.zeros(8, np.int64)[::2],
        np.frombuffer(bytes(32), np.int64),  # read-only
    ],
)
def test_arrays_that_a_kernel_was_not_compiled_for_are_refused(array):
    with pytest.raises(TypeError, match="where the kernel takes"):
        Argument("int64", is_written=True).flat(array)


def test_a_kernel_that_needs_numba_at_run_time_is_refused(monkeypatch):
    from curator_text.kernels.native_compiler import compile_kernel

    def makes_an_array(values):
        return np.empty(values.size, np.int64).size

    module = types.ModuleType("curator_text.kernels.made_up")
    module.makes_an_array = makes_an_array
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(TypeError, match="cannot run without numba: it calls NRT_"):
        compile_kernel("made_up", "makes_an_array", [Argument()])


def test_every_kernel_says_what_it_takes():
    for group in (SURFACE, BOILERPLATE, REPEATS):
        for kernel in group.native:
            assert isinstance(kernel, NativeKernel)
            with pytest.raises(ValueError, match="zip"):
                kernel()


def test_documents_may_have_more_lines_than_there_is_room_for_at_first():
    counts = [1, 5_000, 3, 900, 70_000]
    texts = pl.Series(["\n".join(f"line {n // 2}" for n in range(count)) for count in counts])
    found = REPEATS.of_texts(texts)
    assert found["lines"].to_list() == counts
    assert found["distinct_lines"].to_list() == [-(-count // 2) for count in counts]


@pytest.mark.parametrize("phrase", [PLACEHOLDER, *STRINGS, "COO\u212aIE policy"])
def test_phrases_are_found_wherever_they_stand(phrase):
    texts = [f"{'x' * before} {phrase.upper()}{'y' * after}" for before in range(140) for after in (0, 1, 70)]
    found = BOILERPLATE.of_texts(pl.Series(texts))
    column = "placeholders" if phrase == PLACEHOLDER else "boilerplate_paragraphs"
    assert set(found[column].to_list()) == {1}
    assert set(found["paragraphs"].to_list()) == {1}


def test_paragraphs_are_cut_at_two_newlines_wherever_they_stand():
    texts = [
        f"{'x' * before}{feeds * chr(10)}{'y' * after}"
        for before in range(130)
        for feeds in range(6)
        for after in (0, 3)
    ]
    assert BOILERPLATE.of_texts(pl.Series(texts))["paragraphs"].to_list() == [len(text.split("\n\n")) for text in texts]
