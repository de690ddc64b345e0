"""What steps leave to each other in the cache: a file of each task, under its name."""

import pyarrow as pa

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_dedup.cache_files import PartWriter, read_columns
from curator_table import write_parquet


class WriteLong(PartWriter[TableBatch]):
    folder = "long"

    def write_part(self, task, path):
        if task.num_rows == 1:
            return None
        return {"rows": task.num_rows, "bytes": write_parquet(task.data, path)}


def batches(*sizes):
    return [TableBatch(data=pa.table({"n": list(range(size))})) for size in sizes]


def test_each_task_has_a_file_of_its_own_unless_there_is_nothing_to_write(tmp_path):
    stage = WriteLong(str(tmp_path))
    tasks = Pipeline("p", stages=[stage]).run(LocalExecutor(), initial_tasks=batches(2, 1, 3))
    assert [task.meta["rows"] for task in tasks] == [2, 3]
    assert [read_columns(task.paths[0]).num_rows for task in tasks] == [2, 3]
    names = [f"part-{task.task_id.replace('/', '-')}.parquet" for task in tasks]
    assert sorted(path.name for path in (tmp_path / "long").iterdir()) == sorted(names)
    assert [(tmp_path / "long" / name).stat().st_size for name in names] == [task.meta["bytes"] for task in tasks]


def test_files_of_a_source_are_removed_and_no_others(tmp_path):
    stage = WriteLong(str(tmp_path))
    first, second = Pipeline("p", stages=[stage]).run(LocalExecutor(), initial_tasks=batches(2, 3))
    stage.remove_output([first.task_id.partition("/")[0]], only_torn=True)
    assert len(list((tmp_path / "long").iterdir())) == 2
    stage.remove_output([first.task_id.partition("/")[0]], only_torn=False)
    assert [str(path) for path in (tmp_path / "long").iterdir()] == second.paths
