"""Workers that live on after they were given up for lost: what they write late replaces nothing."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from curator_core import Pipeline, ProcessingStage, StreamingExecutor, Task
from curator_core.executors.ray.worker_setup import end_lease, hold_lease
from curator_core.files.atomic import atomic_output, guard_commits
from curator_core.values.errors import OutputError

TASKS = 40


class WritesFile(ProcessingStage[Task, Task]):
    """Writes a file for each task, with other bytes each time; the first worker with task 7 is stopped meanwhile."""

    timeout_s = 0.2

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def process(self, task):
        time.sleep(0.01)
        is_zombie = task.data == 7 and self.is_first()
        with atomic_output(str(self.folder / f"{task.data}.txt")) as file:
            file.write(f"{os.getpid()}".encode())
            if is_zombie:
                os.kill(os.getpid(), signal.SIGSTOP)
        return task.with_data((task.data, os.getpid()))

    def is_first(self):
        """Return whether no worker has asked before; the first one's number is in a file that appears at once."""
        own = self.folder / f"pid-{os.getpid()}"
        own.write_text(str(os.getpid()))
        try:
            os.link(own, self.folder / "zombie")
        except FileExistsError:
            return False
        return True


def wake_zombie(folder, is_over):
    """Let the stopped worker go on as soon as another has written its file, if Ray has not ended it before."""
    while not (folder / "7.txt").exists() and not is_over.wait(0.002):
        pass
    with suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int((folder / "zombie").read_text()), signal.SIGCONT)


def test_a_worker_that_was_stopped_and_goes_on_late_does_not_replace_the_file_of_the_repeated_call(
    ray_session, tmp_path
):
    is_over = threading.Event()
    waker = threading.Thread(target=wake_zombie, args=(tmp_path, is_over))
    waker.start()
    try:
        result = Pipeline("p", stages=[WritesFile(str(tmp_path))]).run(
            StreamingExecutor(), initial_tasks=[Task(data=n) for n in range(TASKS)]
        )
    finally:
        is_over.set()
        waker.join()
    zombie = int((tmp_path / "zombie").read_text())
    wait_for_end(zombie)
    assert [task.data[0] for task in result] == list(range(TASKS))
    assert result.quarantined == []
    wrote = {number: (tmp_path / f"{number}.txt").read_text() for number in range(TASKS)}
    assert wrote == {number: str(pid) for number, pid in (task.data for task in result)}
    assert wrote[7] != str(zombie)


def wait_for_end(pid, patience_s=60):
    deadline = time.monotonic() + patience_s
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


class Writer:
    """A worker that neither a kill nor the driver reaches any more."""

    def __init__(self, lease):
        hold_lease("run-of-zombies", lease)

    def write(self, path, text, wait_for=None):
        with atomic_output(path) as file:
            file.write(text)
            while wait_for is not None and not Path(wait_for).exists():
                time.sleep(0.01)


def test_a_worker_without_lease_writes_nothing(ray_session, tmp_path):
    import ray

    lost, other = (ray.remote(num_cpus=0)(Writer).remote(name) for name in ("lost", "other"))
    path, go_on = str(tmp_path / "part.txt"), str(tmp_path / "go-on")
    late = lost.write.remote(path, b"late", wait_for=go_on)
    while not list(tmp_path.glob(".part.txt*")):
        assert not ray.wait([late], timeout=0.05)[0]
    end_lease("run-of-zombies", "lost")
    ray.get(other.write.remote(path, b"repeated"))
    Path(go_on).touch()
    with pytest.raises(OutputError, match="lost was given up for lost"):
        ray.get(late)
    assert Path(path).read_bytes() == b"repeated"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["go-on", "part.txt"]


@pytest.mark.parametrize("url", ["{folder}/part.txt", "memory://zombies/part.txt"])
def test_a_guard_keeps_files_from_appearing(tmp_path, url):
    path = url.format(folder=tmp_path)

    def refuse():
        raise OutputError("not any more")

    with atomic_output(path) as file:
        file.write(b"first")
    guard_commits(refuse)
    try:
        with pytest.raises(OutputError, match="not any more"), atomic_output(path) as file:
            file.write(b"second")
    finally:
        guard_commits(None)
    import fsspec

    with fsspec.open(path) as file:
        assert file.read() == b"first"
