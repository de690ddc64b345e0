"""Compiled kernels are kept in the user's cache, and made anew when a source changes or a file is damaged."""

import logging
import subprocess
import sys

import pytest

PROGRAM = """
import logging, sys
logging.basicConfig(level="INFO", format="%(name)s: %(message)s")
sys.path.insert(0, sys.argv[1])
import sums
sums.cache.compile_once("sums", lambda: sums.total(3))
print(sums.total(10))
"""
KERNEL = """
from pathlib import Path
from curator_core.authoring.kernel_cache import KernelCache
cache = KernelCache("sums", Path(__file__).parent)
@cache.kernel
def total(count):
    result = 0
    for number in range(count):
        result += number
    return result{more}
"""


@pytest.fixture
def compiled(tmp_path):
    sources, folder = tmp_path / "kernels", tmp_path / "cache"
    sources.mkdir()

    def run(more=""):
        (sources / "sums.py").write_text(KERNEL.replace("{more}", more), encoding="utf-8")
        command = [sys.executable, "-c", PROGRAM, str(sources)]
        environment = {"CURATOR_CACHE_DIR": str(folder), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return int(done.stdout), done.stderr

    return folder, run


def test_kernels_are_compiled_once_until_a_source_changes(compiled):
    folder, run = compiled
    total, log = run()
    assert total == 45
    assert "compiling sums kernels (once per machine)" in log
    assert len(list(folder.rglob("*.nbc"))) == 1
    assert run() == (45, "")
    total, log = run(" + 1")
    assert total == 46
    assert "once per machine" in log
    assert len(list(folder.glob("sums-kernels-*"))) == 2


def test_a_damaged_kernel_is_compiled_again(compiled):
    folder, run = compiled
    run()
    for path in folder.rglob("*.nbi"):
        path.write_bytes(path.read_bytes()[:40])
    total, log = run()
    assert total == 45
    assert "compiled ones are damaged" in log


def test_kernels_of_deduplication_are_in_the_cache_of_the_user():
    from curator_dedup.kernels.edges import repeated

    assert "dedup-kernels-" in str(repeated.stats.cache_path)
    assert logging.getLogger("curator_dedup").handlers == []
