"""Signals end a run wherever they strike; a KeyboardInterrupt or SystemExit that a stage raises by itself does not."""

import signal
import sys

import pytest

from curator_core import LocalExecutor, Pipeline, ProcessingStage, Task
from curator_core.call import interrupts
from curator_core.call.interrupts import expect_no_interrupts, reraise_interrupt, watch_interrupts
from curator_core.call.runner import StageRunner
from curator_core.cli.interruption import stop_on_signal
from curator_core.run.state import RunState
from curator_core.run.worker_state import WorkerState


def tasks():
    return [Task(data=n) for n in range(5)]


class PressesCtrlC(ProcessingStage[Task, Task]):
    """The signal arrives while the stage works on task 2."""

    def process(self, task):
        if task.data == 2:
            signal.raise_signal(signal.SIGINT)
        return task


class TurnsIntoError(PressesCtrlC):
    def process(self, task):
        try:
            return super().process(task)
        except BaseException as error:
            raise ValueError("something went wrong") from error


class RaisesIt(ProcessingStage[Task, Task]):
    def process(self, task):
        if task.data == 2:
            raise KeyboardInterrupt
        return task


@pytest.fixture
def exit_on_sigterm():
    """Exit on SIGTERM as many programs do, and as Ray makes its workers do; returns the handler."""

    def on_signal(number, frame):
        sys.exit(143)

    before = signal.signal(signal.SIGTERM, on_signal)
    yield on_signal
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("stage", [PressesCtrlC(), TurnsIntoError(), PressesCtrlC().with_(batch_size=2)])
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_in_a_stage_ends_the_run(stage, threads):
    result = Pipeline("p", stages=[stage]).run(LocalExecutor(threads), initial_tasks=tasks())
    assert result.interrupted
    assert result.quarantined == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_keyboard_interrupt_of_a_stage_is_a_failure_also_after_somebody_asked_the_run_to_stop():
    """The first Ctrl-C of the command line raises nothing."""
    asked = []
    before = signal.signal(signal.SIGINT, lambda *_: asked.append(True))

    class Asks(RaisesIt):
        def process(self, task):
            signal.raise_signal(signal.SIGINT)
            return super().process(task)

    try:
        result = Pipeline("p", stages=[Asks()]).run(LocalExecutor(max_attempts=1), initial_tasks=tasks())
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(asked) == 5
    assert [record.error_type for record in result.quarantined] == ["KeyboardInterrupt"]
    assert [task.data for task in result] == [0, 1, 3, 4]


def test_ctrl_c_counts_although_the_stage_has_a_handler_of_its_own():
    class Handles(PressesCtrlC):
        def setup(self, worker):
            self.before = signal.signal(signal.SIGINT, self.on_signal)

        def on_signal(self, number, frame):
            raise KeyboardInterrupt

        def teardown(self):
            signal.signal(signal.SIGINT, self.before)

    result = Pipeline("p", stages=[Handles()]).run(LocalExecutor(), initial_tasks=tasks())
    assert (result.interrupted, result.quarantined) == (True, [])


def test_where_nobody_watches_a_keyboard_interrupt_counts_as_ctrl_c():
    with pytest.raises(KeyboardInterrupt):
        reraise_interrupt(KeyboardInterrupt())
    with watch_interrupts():
        reraise_interrupt(KeyboardInterrupt())
    reraise_interrupt(SystemExit())


def test_streams_that_end_in_the_order_they_began_leave_no_handler_behind(exit_on_sigterm):
    streams = [Pipeline("p", stages=[RaisesIt()]).stream(LocalExecutor(), initial_tasks=tasks()) for _ in range(3)]
    for stream in streams:
        next(stream)
    for stream in streams:
        stream.close()
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert handlers == [signal.default_int_handler, exit_on_sigterm]


def test_a_process_that_ignores_the_signal_has_no_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        result = Pipeline("p", stages=[RaisesIt()]).run(LocalExecutor(max_attempts=1), initial_tasks=tasks())
    finally:
        signal.signal(signal.SIGINT, before)
    assert [record.error_type for record in result.quarantined] == ["KeyboardInterrupt"]
    assert not result.interrupted


class IsTold(ProcessingStage[Task, Task]):
    """Gets SIGTERM, once or twice, while it works on task 2 for the first time."""

    signals = 1
    is_told = False

    def process(self, task):
        if task.data == 2 and not self.is_told:
            self.is_told = True
            for _ in range(self.signals):
                signal.raise_signal(signal.SIGTERM)
        return task


class IsToldTwice(IsTold):
    signals = 2


def test_a_second_sigterm_ends_the_run_and_costs_no_task(tmp_path):
    pipeline = Pipeline("p", stages=[IsToldTwice().with_(max_attempts=1)])
    state = RunState(tmp_path)
    with stop_on_signal(state.stop_requested) as interruption:
        stopped = pipeline.run(LocalExecutor(), initial_tasks=tasks(), state=state)
    assert (stopped.interrupted, stopped.quarantined, interruption.exit_code) == (True, [], 143)
    resumed = pipeline.run(LocalExecutor(), initial_tasks=tasks(), run_dir=tmp_path, resume=True)
    assert [task.data for task in resumed] == [0, 1, 2, 3, 4]
    assert resumed.quarantined == []


def test_a_program_that_exits_on_sigterm_exits_in_a_stage_too(exit_on_sigterm):
    with pytest.raises(SystemExit, match="143"):
        Pipeline("p", stages=[IsTold()]).run(LocalExecutor(), initial_tasks=tasks())
    assert signal.getsignal(signal.SIGTERM) is exit_on_sigterm


def test_a_worker_that_is_told_to_end_does_so(exit_on_sigterm, monkeypatch):
    monkeypatch.setattr(interrupts, "_is_worker", False)
    monkeypatch.setattr(interrupts, "_active", [])
    expect_no_interrupts()
    state = WorkerState()
    outputs = StageRunner(IsTold(), state).run(tasks())
    with pytest.raises(SystemExit, match="143"):
        list(outputs)
    assert [task.data for task in StageRunner(RaisesIt(), state, max_attempts=1).run(tasks())] == [0, 1, 3, 4]
    assert [record.error_type for record in state.take().quarantined] == ["KeyboardInterrupt"]
