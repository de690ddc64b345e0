"""The columns of files read as rows are known before anything runs."""

import pytest

from curator_core import Pipeline, TableBatch, processing_stage
from curator_core.authoring.folder_reader import FolderReader
from curator_core.values.errors import PipelineError


class Look(FolderReader):
    name = "look"


@processing_stage(name="weigh", inputs=["bytes"])
def weigh(batch: TableBatch) -> TableBatch:
    return batch


def test_a_column_that_was_not_asked_for_is_missed_before_the_run(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"a")
    Pipeline(stages=[Look(str(tmp_path)), weigh]).build()
    with pytest.raises(PipelineError, match="'bytes'"):
        Pipeline(stages=[Look(str(tmp_path), with_bytes=False), weigh]).build()
