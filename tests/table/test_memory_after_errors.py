"""Files that cannot be read leave none of their content in memory, where a folder full of them would add up."""

import gc
import gzip
import time
import tracemalloc

import pytest

from curator_core import LocalExecutor, Pipeline
from tests.support.plain_readers import ReadCsv, ReadLines

MIB = 2**20


@pytest.mark.parametrize(
    ("name", "content", "error_type"),
    [
        ("bomb.jsonl.gz", gzip.compress(bytes(80 * MIB)), "DecompressionBomb"),
        ("torn.jsonl.gz", gzip.compress(b'{"text": "good"}\n' * (MIB // 2))[:-9], "TornFile"),
        ("torn.csv.gz", gzip.compress(b"a,b\n" * (2 * MIB))[:-9], "TornFile"),
    ],
    ids=["bomb", "torn lines", "torn csv"],
)
def test_what_was_read_of_a_bad_file_is_let_go(tmp_path, name, content, error_type):
    path = tmp_path / name
    path.write_bytes(content)
    reader = ReadCsv(str(path)) if ".csv" in name else ReadLines(str(path))

    def run():
        result = Pipeline("bad", stages=[reader]).run(LocalExecutor(max_attempts=1))
        assert [record.error_type for record in result.quarantined] == [error_type]

    def traced():
        gc.collect()
        gc.disable()  # so that only what nobody refers to is let go
        tracemalloc.start()
        try:
            run()
            _, peak = tracemalloc.get_traced_memory()
            for _ in range(200):  # a thread of Arrow, which read ahead, may get to let go only when others are idle
                held, _ = tracemalloc.get_traced_memory()
                if held < MIB:
                    break
                time.sleep(0.05)
            return held, peak
        finally:
            tracemalloc.stop()
            gc.enable()

    run()
    held, peak = traced()
    assert peak > 4 * MIB, "it was read"
    assert held < MIB
