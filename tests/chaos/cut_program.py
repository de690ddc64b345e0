"""Run as a program on the head by test_chaos_cut_links.py: a run with a ledger on all hosts of the cluster.

Usage: python cut_program.py FOLDER ADDRESS SECONDS HOSTS    reads FOLDER/in, prints what became of the run as JSON.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa

from curator_core import LocalExecutor, Pipeline, ProcessingStage, StreamingExecutor, TableBatch
from curator_core.executors.ray import import_ray
from curator_core.executors.ray.cluster import connect
from curator_text import ReadJsonl, WriteJsonl


class Inflate(ProcessingStage[TableBatch, TableBatch]):
    """Adds a column that is too large to travel with the call, takes its time, and notes where it was."""

    fuse = False

    def __init__(self, seconds: float, log: str) -> None:
        self.seconds = seconds
        self.log = log

    def setup(self, worker):
        self.node = worker.node_id

    def process(self, task):
        time.sleep(self.seconds)
        with (Path(self.log) / f"{self.node}-{os.getpid()}").open("a") as file:
            file.write(f"{task.task_id}\n")
        return task.with_data(task.data.append_column("blob", pa.array(["x" * 20_000] * task.num_rows)))


class Deflate(ProcessingStage[TableBatch, TableBatch]):
    """Takes the column away again, perhaps on another host."""

    fuse = False

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def process(self, task):
        time.sleep(self.seconds)
        return task.with_data(task.data.drop_columns("blob"))


def run(root, executor, *, seconds, hosts, output, run_dir, log):
    log.mkdir(exist_ok=True)
    stages = [
        ReadJsonl(str(root / "in"), block_bytes=1_000),
        Inflate(seconds, str(log)).with_(timeout_s=20.0, min_workers=hosts),  # one on each from the start
        Deflate(seconds / 4),
        WriteJsonl(str(root / output)),
    ]
    return Pipeline("cut", stages=stages).run(executor, run_dir=root / run_dir)


def gone_nodes():
    return [node for node in import_ray().nodes() if not node["Alive"]]


def note_gone(folder, is_over):
    """Leave the addresses of nodes that Ray has given up in a folder, as soon as it has."""
    while not is_over.wait(0.5):
        for node in gone_nodes():
            (folder / node["NodeManagerAddress"]).touch()


def main(folder, address, seconds, hosts):
    root = Path(folder)
    if address == "local":
        options = {"seconds": 0.0, "hosts": 1, "output": "reference", "run_dir": "reference-run"}
        run(root, LocalExecutor(), **options, log=root / "reference-log")
        return
    (root / "gone").mkdir()
    is_over = threading.Event()
    with connect(address):  # for longer than the run, so that Ray can be asked who is still there
        watch = threading.Thread(target=note_gone, args=(root / "gone", is_over))
        watch.start()
        try:
            options = {"seconds": float(seconds), "hosts": int(hosts), "output": "out", "run_dir": "run"}
            result = run(root, StreamingExecutor(), **options, log=root / "log")
        finally:
            is_over.set()
            watch.join()
            gone = gone_nodes()
            sys.stderr.writelines(f"{node['NodeManagerAddress']}: {node.get('DeathReasonMessage')}\n" for node in gone)
    quarantined = [f"{record.stage}: {record.error_type}: {record.message}" for record in result.quarantined]
    given_up = [node["NodeManagerAddress"] for node in gone]
    found = {"rows": result.rows_out, "quarantined": quarantined, "given_up": given_up, "wall_s": result.wall_s}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
