"""Stages and errors that leave their process."""

import importlib.util
import pickle
import subprocess
import sys
import threading

import pytest

from curator_core import ProcessingStage, TableBatch, Task, processing_stage
from curator_core.executors.ray import shipping
from curator_core.executors.ray.shipping import dumps, dumps_readable, pack_error, pack_stage
from curator_core.values.errors import PipelineError, StageError


class Holder(ProcessingStage):
    def __init__(self, value=None):
        self.value = value

    def process(self, task):
        return task


def test_what_cannot_travel_is_named():
    with pytest.raises(PipelineError, match=r"stage 'Holder' .* its attribute 'value', a lock"):
        pack_stage(Holder(threading.Lock()))


def test_what_a_function_closes_over_is_named():
    gate = threading.Lock()

    @processing_stage(name="guarded")
    def guarded(task):
        with gate:
            return task

    with pytest.raises(PipelineError, match=r"'guarded' .* because of 'gate', a lock that its function uses"):
        pack_stage(guarded)


def test_a_stage_of_a_module_that_workers_cannot_import_travels_with_its_code(tmp_path):
    file = tmp_path / "hidden_stage.py"
    file.write_text(
        "from curator_core import ProcessingStage\n"
        "STEP = 3\n"
        "def more(n):\n    return n + STEP\n"
        "class Add(ProcessingStage):\n"
        "    def process(self, task):\n        return task.with_data(more(task.data))\n"
    )
    spec = importlib.util.spec_from_file_location("hidden_stage", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["hidden_stage"] = module
    try:
        spec.loader.exec_module(module)
        packed = pack_stage(module.Add())
        code = (
            "import pickle, sys; from curator_core import Task;"
            "packed = pickle.load(sys.stdin.buffer);"
            "print(packed.unpack().process(Task(data=4)).data)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], input=pickle.dumps(packed), capture_output=True, check=False, timeout=60
        )
        assert done.stdout.strip() == b"7", done.stderr.decode()[-1000:]
        back = pickle.loads(dumps(module.Add))
        assert back is module.Add, "a class that comes home is the class that left"
    finally:
        del sys.modules["hidden_stage"]


def test_a_worker_without_the_module_says_so(tmp_path):
    file = tmp_path / "left_behind.py"
    file.write_text("class Thing:\n    pass\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import left_behind

        packed = pack_stage(Holder(left_behind.Thing()))
    finally:
        sys.path.remove(str(tmp_path))
        del sys.modules["left_behind"]
    file.unlink()
    with pytest.raises(StageError, match=r"'Holder' could not be loaded in a worker: ModuleNotFoundError"):
        packed.unpack()
    sys.path.remove(str(tmp_path))


def test_an_error_keeps_its_cause_and_traceback_on_the_way():
    def fail():
        raise ValueError("odd")

    def wrap():
        try:
            fail()
        except ValueError as cause:
            raise StageError("stage failed", fix="mend it") from cause

    with pytest.raises(StageError) as caught:
        wrap()
    arrived = pickle.loads(pickle.dumps(pack_error(caught.value))).unpack()
    assert (type(arrived), arrived.message, arrived.fix) == (StageError, "stage failed", "mend it")
    assert isinstance(arrived.__cause__, ValueError)
    assert 'raise ValueError("odd")' in str(arrived.__cause__.__cause__)


class StubbornError(Exception):
    def __init__(self, one, two):
        super().__init__(one)
        self.lock = threading.Lock()


def test_an_error_that_cannot_travel_is_told_in_words():
    with pytest.raises(StubbornError) as caught:
        raise StubbornError("broken", 2)
    arrived = pack_error(caught.value).unpack()
    assert "StubbornError: broken" in str(arrived)
    assert "raise StubbornError" in str(arrived.__cause__)


def test_tasks_of_unknown_kinds_travel_too():
    class Special(Task):
        pass

    assert type(pickle.loads(dumps(Special(data=1)))).__name__ == "Special"


class UnreadableError(Exception):
    def __init__(self, one, two):
        super().__init__(one)


class UnreadablePair(tuple):
    __slots__ = ()

    def __new__(cls, one, two):
        return super().__new__(cls, (one, two))


class Imitation:
    """Has every attribute that anybody asks for, as mocks do."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return name

    __qualname__ = "a name"

    def __reduce__(self):
        return (int, ("no number",))


@pytest.mark.parametrize("by_value", [True, False])
@pytest.mark.parametrize(
    "hidden",
    [UnreadableError(1, 2), UnreadablePair(1, 2), Imitation()],
    ids=["exception", "tuple", "imitation"],
)
@pytest.mark.parametrize("hide", [lambda each: each, lambda each: (1, {"a": [each]}), lambda each: Task(data=each)])
def test_what_could_not_be_read_back_is_not_sent(hidden, hide, by_value):
    with pytest.raises((TypeError, ValueError)):
        dumps_readable([Task(data="fine"), Task(data=hide(hidden))], by_value=by_value)
    with pytest.raises((TypeError, ValueError)):
        dumps_readable([Task(data=1, meta={"kept": hide(hidden)})], by_value=by_value)


def test_plain_values_are_not_read_on_trial(monkeypatch):
    tasks = [Task(data=(1, 0.5, None, {"a": ["b", b"c"]})), TableBatch(data={"text": ["a", "b"]})]
    pickled = dumps_readable(tasks)
    assert pickle.loads(pickled) == tasks
    monkeypatch.setattr(shipping.pickle, "loads", lambda *_, **__: pytest.fail("read on trial"))
    assert dumps_readable(tasks)
