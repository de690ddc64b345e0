"""Run one stage over a stream of tasks: batches, retries, isolation of guilty rows, quarantine, ids, statistics.

Executors differ in where and when they call a stage; what a call means is decided here, once.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.authoring.recording import Recording
from curator_core.authoring.stage import NodeInfo, WorkerInfo
from curator_core.authoring.tasks import TableBatch, Task, concat_tables, source_id, take_rows
from curator_core.call.error_policy import ErrorPolicy, is_worth_isolating, policy_for, retry_delay_s, tries
from curator_core.call.interrupts import reraise_interrupt
from curator_core.call.isolate import can_isolate, isolate
from curator_core.call.lineage import adopt, adopt_one, check_output
from curator_core.call.out_of_memory import divided, is_out_of_memory, release_memory
from curator_core.call.quarantine_payload import refused_rows
from curator_core.call.quarantine_record import record_for_bad_record, record_for_task
from curator_core.values.errors import OutputError, StageError, UnpicklableOutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from curator_core.authoring.recording import BadRecord
    from curator_core.authoring.stage import OnError, ProcessingStage
    from curator_core.call.error_policy import CallReports
    from curator_core.run.ledger.run_ledger import StageProgress

__all__ = ["StageRunner", "call_hook"]


class StageRunner:
    """One stage, ready to be fed.

    Args:
        stage: The stage; one instance serves all threads.
        state: Where statistics and quarantined records go.
        on_error: Default for tasks that keep failing, unless the stage has its own.
        max_attempts: Default number of tries, unless the stage has its own.
        serialize: Let one thread at a time into a stage that is not thread-safe.
        row_limit: End after this many rows.
        progress: Where to report the progress of each task.
        finished_sources: Source tasks that are done, which the stage leaves out of its output.
    """

    def __init__(
        self,
        stage: ProcessingStage[Any, Any],
        state: CallReports,
        *,
        on_error: OnError = "quarantine",
        max_attempts: int = 3,
        serialize: bool = False,
        row_limit: int | None = None,
        progress: StageProgress | None = None,
        finished_sources: Collection[str] = (),
    ) -> None:
        self.stage = stage
        self.stats = state.stats_of(stage.name)
        self._state = state
        self._row_limit = row_limit
        self._progress = progress
        self._finished_sources = finished_sources
        self._policy = policy_for(stage, ErrorPolicy(on_error, max_attempts))
        self._turn = threading.RLock() if serialize and not stage.thread_safe else nullcontext()
        self._worker = WorkerInfo()

    def setup(
        self, worker: WorkerInfo | None = None, *, once_per_node: Callable[[Callable[[], None]], None] | None = None
    ) -> None:
        """Prepare the machine and the worker for the stage.

        Args:
            worker: Where it runs; in this process unless given.
            once_per_node: Calls what prepares the machine, or leaves it where another worker did; called every time
                unless given.
        """
        started = time.perf_counter()
        here = self._worker = worker or WorkerInfo()

        def prepare_node() -> None:
            call_hook(self.stage.setup_on_node, NodeInfo(here.node_id), here)

        try:
            if once_per_node is None:
                prepare_node()
            else:
                once_per_node(prepare_node)
            call_hook(self.stage.setup, here)
        except BaseException as error:
            reraise_interrupt(error)
            if isinstance(error, StageError):
                raise
            raise StageError(
                f"stage {self.stage.name!r} could not be set up: {type(error).__name__}: {error}",
                fix="see the cause above the summary with --traceback",
            ) from error
        self.stats.add(setup_time_s=time.perf_counter() - started)

    def teardown(self) -> None:
        """Let the stage release its resources."""
        try:
            self.stage.teardown()
        except Exception:
            raise
        except BaseException as error:
            reraise_interrupt(error)
            raise StageError(f"stage {self.stage.name!r} raised {type(error).__name__} in teardown: {error}") from error

    def divided(self, parts: int) -> StageRunner:
        """Return a runner of the same stage, set up as this one, that gives it large tables in so many parts."""
        twin = copy.copy(self)
        twin.stage = divided(self.stage, parts)
        return twin

    def run(self, tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
        """Pull tasks, as many at a time as the stage's batch size, and yield the outputs of the stage."""
        if self._row_limit is None and self.stage.batch_size <= 1:
            return self._singles(iter(tasks))
        outputs = self._batches(iter(tasks))
        return self._counted(outputs if self._row_limit is None else take_rows(outputs, self._row_limit))

    def portable(self, outputs: Iterable[Task[Any]], pack: Callable[[list[Task[Any]]], object]) -> Iterator[Task[Any]]:
        """Yield those outputs of the stage that can leave this process, and apply the policy to the others.

        Args:
            outputs: What the stage has made.
            pack: Makes tasks ready to travel, or raises.
        """
        for output in outputs:
            try:
                pack([output])
            except BaseException as error:  # noqa: BLE001, PERF203 - isolation border: tasks may hold anything
                reraise_interrupt(error)
                self.refuse(output, error)
            else:
                yield output

    def refuse(self, output: Task[Any], error: BaseException) -> None:
        """Take an output back that cannot leave this process, and apply the policy to it.

        What the stage made it of is not at hand any more, so that a retry processes its whole source again.
        """
        cause = error.__cause__ or error
        unfit = UnpicklableOutputError(
            f"an output cannot leave its worker: {type(cause).__name__}: {cause}",
            fix="put plain values, tables or arrays into tasks, not open files, locks or connections",
        )
        unfit.__cause__ = cause
        self.stats.made(output, sign=-1)
        self.stats.add(failures=1)
        record = record_for_task(self.stage.name, output, unfit, attempts=1, worker=self._worker)
        self._policy.apply(record, None, self._state, cause=unfit)
        if self._progress is not None:  # now: it may be all that its source still lacked to be done
            self._progress.lost(output)

    def _counted(self, outputs: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
        for output in outputs:
            if self._finished_sources and source_id(output.task_id) in self._finished_sources:
                continue
            self.stats.made(output)
            if self._progress is not None:
                self._progress.made(output)
            yield output
            del output  # while the next one is made

    def _batches(self, source: Iterator[Task[Any]]) -> Iterator[Task[Any]]:
        while batch := list(itertools.islice(source, max(1, self.stage.batch_size))):
            self.stats.saw(batch)
            yield from self._process(batch)
            if self._progress is not None:
                self._progress.used(batch)

    def _singles(self, source: Iterator[Task[Any]]) -> Iterator[Task[Any]]:
        """Process tasks one by one, with a short way for the usual case: a call that makes one task of one.

        Pipelines of cheap stages spend most of their time between the calls, so this path is kept bare. Nothing here
        holds on to a task while stages further down work: a line of filters would keep a table for each of them.
        """
        process, stats, clock, turn = self.stage.process, self.stats, time.perf_counter, self._turn
        name = self.stage.name
        is_bare = self._progress is None and not self._finished_sources
        recording = Recording()
        for task in source:
            result = failure = None
            token = recording.begin()
            try:
                with turn:
                    started = clock()
                    result = process(task)
                if type(result) is not Task and isinstance(result, Task):
                    check_output(result, stage=name)
            except BaseException as error:  # noqa: BLE001 - isolation border: a stage may raise anything
                reraise_interrupt(error)
                result, failure = None, error
            finally:
                recording.end(token)
            seconds = clock() - started
            if not isinstance(result, Task):
                stats.saw([task], process_time_s=seconds)
                yield from self._counted(self._process([task], first=(recording, _Outcome(result, failure))))
                recording = Recording()
            elif is_bare and recording.is_empty:
                outputs = [adopt_one(task, result)]
                stats.passed(task, outputs[0], process_time_s=seconds)
                del task, result
                yield outputs.pop()
                continue
            else:
                stats.saw([task], process_time_s=seconds)
                self._keep(recording, [task])
                recording.clear()
                outputs = list(self._counted([adopt_one(task, result)]))
                task, result = Task(data=None, task_id=task.task_id), None  # noqa: PLW2901 - its id is all that is needed
                if outputs:
                    yield outputs.pop()
            if self._progress is not None:
                self._progress.used([task])
            del task, result

    def _process(
        self, batch: list[Task[Any]], *, first: tuple[Recording, _Outcome] | None = None, is_part: bool = False
    ) -> Iterator[Task[Any]]:
        """Call the stage on a batch, again if it fails, and see to those tasks that keep failing.

        Args:
            batch: The tasks.
            first: What the first call reported and returned, if it has been made.
            is_part: Whether they are part of a batch that kept failing.
        """
        emitted = 0
        for attempt in itertools.count(1):
            recording, outcome = first if first is not None and attempt == 1 else (Recording(), None)
            outputs = self._call(batch, recording, outcome)
            for number in itertools.count():
                try:
                    output = next(outputs, None)
                except OutputError:  # a full disk: the task is not to blame
                    raise
                except BaseException as error:  # noqa: BLE001 - isolation border: a stage may raise anything
                    reraise_interrupt(error)
                    failure = error
                    break
                # A repeated call makes the same outputs in the same order; those passed on before are left out.
                is_new = number >= emitted
                if is_new:
                    self._keep(recording, batch, part=number)
                recording.clear()
                if output is None:
                    return
                if is_new:
                    emitted += 1
                    yield output
                del output
            self.stats.add(failures=1)
            if is_out_of_memory(failure):
                release_memory(failure)
            can_divide = len(batch) > 1 or (not emitted and can_isolate(self.stage, batch[0]))
            if attempt == tries(self._policy, failure, can_divide=can_divide, is_part=is_part):
                yield from self._give_up(batch, failure, attempts=attempt, emitted=emitted)
                return
            self.stats.add(retries=1)
            time.sleep(retry_delay_s(failure, attempt))

    def _call(
        self, batch: list[Task[Any]], recording: Recording, outcome: _Outcome | None = None
    ) -> Iterator[Task[Any]]:
        """Call the stage once; yield its outputs with their ids. Only time inside the stage is counted."""
        results: Sequence[Any]
        with self._turn:
            if outcome is not None:
                results = [outcome.get()]
            elif len(batch) == 1:
                results = [self._timed(recording, self.stage.process, batch[0])]
            else:
                results = self._timed(recording, self.stage.process_batch, batch)
                if not isinstance(results, (list, tuple)) or len(results) != len(batch):
                    raise StageError(
                        f"process_batch of stage {self.stage.name!r} returned {_count(results)} for {len(batch)} tasks",
                        fix="return a list with one entry per task: a task, None, or a list of tasks",
                    )
            adopted = (
                adopt(parent, self._entries(recording, result), stage=self.stage.name)
                for parent, result in zip(batch, results, strict=True)
            )
            if len(batch) == 1:
                yield from next(adopted)
            else:  # all or nothing: of a batch with a failing entry, each half is processed again
                yield from list(itertools.chain.from_iterable(adopted))

    def _timed(self, recording: Recording, function: Any, *arguments: Any) -> Any:
        started = time.perf_counter()
        try:
            with recording.active():
                return function(*arguments)
        finally:
            self.stats.add(process_time_s=time.perf_counter() - started)

    def _entries(self, recording: Recording, result: Any) -> Any:
        return self._timed_each(recording, result) if isinstance(result, Iterator) else result

    def _timed_each(self, recording: Recording, iterator: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while (item := self._timed(recording, next, iterator, end)) is not end:
            yield item
            del item

    def _keep(self, recording: Recording, batch: list[Task[Any]], *, part: int = 0) -> None:
        """Add the reports of a successful call to the run."""
        self.stats.keep(recording)
        task_id = batch[0].task_id
        if recording.dropped_rows:
            self._state.keep_dropped(self.stage.name, f"{task_id}-{part}" if part else task_id, recording)
        if recording.bad_records:
            self._refuse_rows(recording.bad_records, batch, part)

    def _refuse_rows(self, refused: list[BadRecord], batch: list[Task[Any]], part: int) -> None:
        """Apply the policy to records that the stage refused while the rest of their task went on."""
        places: Counter[object] = Counter()
        for bad in refused:
            # Without a place in a file, records are told apart by the order in which the stage reports them.
            place = (bad.source, bad.row) if bad.source is not None else part
            ordinal = places[place] if bad.source is not None else (part << 20) + places[place]
            places[place] += 1
            record = record_for_bad_record(self.stage.name, batch[0].task_id, bad, worker=self._worker, ordinal=ordinal)
            self._policy.apply(record, refused_rows(batch, bad), self._state, cause=None)

    def _give_up(
        self, batch: list[Task[Any]], error: BaseException, *, attempts: int, emitted: int
    ) -> Iterator[Task[Any]]:
        if len(batch) > 1:
            middle = len(batch) // 2
            for half in (batch[:middle], batch[middle:]):
                yield from self._process(half, is_part=len(half) > 1)  # alone, a task gets all its tries
            return
        (task,) = batch
        if not emitted and can_isolate(self.stage, task) and is_worth_isolating(error, self._policy):
            assert isinstance(task, TableBatch)
            yield from self._isolate(task, error, attempts)
            return
        record = record_for_task(self.stage.name, task, error, attempts=attempts, worker=self._worker)
        self._policy.apply(record, task, self._state, cause=error)

    def _isolate(self, task: TableBatch, error: BaseException, attempts: int) -> Iterator[Task[Any]]:
        """Process a failing table in parts, so that only guilty rows are lost."""
        with self._turn:
            found = isolate(self.stage, task, error, self._timed)
        for ordinal, (part, cause) in enumerate(found.blamed):
            is_part = part.num_rows < task.num_rows
            record = record_for_task(
                self.stage.name,
                part,
                cause,
                attempts=attempts + is_part,
                worker=self._worker,
                is_part=is_part,
                ordinal=ordinal,
            )
            self._policy.apply(record, part, self._state, cause=cause)
        self._keep(found.recording, [task])
        if found.tables:
            yield from adopt(task, task.with_data(concat_tables(found.tables)), stage=self.stage.name)


@dataclass(slots=True)
class _Outcome:
    """The outcome of one call of a stage."""

    result: Any = None
    failure: BaseException | None = None

    def get(self) -> Any:
        if self.failure is not None:
            raise self.failure
        return self.result


def _count(results: Any) -> str:
    return f"{len(results)} entries" if isinstance(results, (list, tuple)) else f"a {type(results).__name__}"


def call_hook(hook: Any, *arguments: Any) -> None:
    """Call a method of a stage with as many arguments as it takes: stages written for other frameworks differ."""
    try:
        parameters = inspect.signature(hook).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    hook(*(arguments if takes_any else arguments[: len(positional)]))
