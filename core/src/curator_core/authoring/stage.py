"""The contract of a stage: what it needs, which columns it reads and writes, and what it does to one task."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from curator_core.values.errors import StageError, UnknownNameError
from curator_core.values.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from typing_extensions import Self

    from curator_core.authoring.tasks import Task

__all__ = [
    "Columns",
    "CompositeStage",
    "FinishedRun",
    "NodeInfo",
    "OnError",
    "ProcessingStage",
    "WorkerInfo",
    "columns_of",
]

X = TypeVar("X", bound="Task[Any]")
Y = TypeVar("Y", bound="Task[Any]")

OnError = Literal["quarantine", "raise", "skip"]
"""What happens to a task that keeps failing: kept aside with its reason, end the run, or only counted."""

Columns: TypeAlias = "Sequence[str] | tuple[Sequence[str], Sequence[str]]"


class NodeInfo:
    """The machine a stage is set up on.

    >>> NodeInfo("node-1").node_id
    'node-1'
    """

    def __init__(self, node_id: str = "local") -> None:
        self.node_id = node_id


class WorkerInfo:
    """The worker a stage is set up in.

    >>> WorkerInfo("worker-7", node_id="node-1").node_id
    'node-1'
    """

    def __init__(self, worker_id: str = "local", node_id: str = "local") -> None:
        self.worker_id = worker_id
        self.node_id = node_id


@dataclass(frozen=True)
class FinishedRun:
    """A run that has ended, as :meth:`ProcessingStage.finish` is told of it.

    >>> FinishedRun("web-clean", run_dir="runs/1", succeeded=True).run_dir
    'runs/1'

    Args:
        name: Name of the pipeline.
        run_dir: Its run directory, where it has one.
        succeeded: Whether it came to its end: False where it failed or was interrupted. Rows may be in quarantine.
    """

    name: str
    run_dir: str | None = None
    succeeded: bool = True


class ProcessingStage(ABC, Generic[X, Y]):
    """One step of a pipeline.

    Subclass it as a plain class or a dataclass. The constructor's typed parameters are the stage's configuration and
    are stored under their own names; models, files and connections are opened in :meth:`setup`. The same input must
    give the same output, because a failed call is repeated.

    >>> from curator_core import Task
    >>> class Double(ProcessingStage[Task[int], Task[int]]):
    ...     def process(self, task):
    ...         return task.with_data(task.data * 2)
    >>> Double().process(Task(data=21)).data
    42
    """

    name: str = ""
    """Name in statistics, unique in a pipeline; the class name unless given."""
    resources: Resources = Resources(cpus=1.0)
    """What one worker needs."""
    batch_size: int = 1
    """How many tasks :meth:`process_batch` gets at once."""
    workers: int | None = None
    """A fixed number of workers, for executors that have several."""
    workers_per_node: int | None = None
    """A number of workers for each node of the cluster at the start of a run, instead of :attr:`workers`."""
    min_workers: int | None = None
    max_workers: int | None = None
    max_calls_per_worker: int | None = None
    """After about so many calls, fewer than twice as many, a worker is replaced by a new one, for libraries that leak
    memory. Not with ``ray_data`` and ``local``, whose workers stay."""
    runtime_env: dict[str, Any] | None = None
    """Environment of the workers, as Ray takes it for actors: ``{"env_vars": {"HF_HOME": "/models"}}``."""
    fuse: bool = True
    """Whether the planner may run this stage in one call with its neighbours."""
    max_attempts: int | None = None
    """How often a failing call is tried; the executor's default unless given."""
    on_error: OnError | None = None
    """What happens to a task that keeps failing; the executor's default unless given."""
    timeout_s: float | None = None
    """Most seconds for one task, or for its next output; only the streaming executor enforces it."""

    thread_safe: ClassVar[bool] = False
    """Whether several threads may call :meth:`process` of one instance at a time."""
    row_wise: ClassVar[bool | None] = None
    """Whether the output for a table is the concatenation of the outputs for its rows.

    So that one bad row does not cost its table, a table that a stage fails on is given to it again in parts: where this
    is True, and, where it is None, if each part comes out with a row for each of its own. A stage whose rows depend on
    other rows of their table says False."""
    spreads: ClassVar[bool] = False
    """Whether it makes several tasks of a large one, as work for several workers: it is not fused with what follows."""
    writes_files: ClassVar[bool] = False
    """Whether it writes files while tables pass through it; a preview leaves it out."""
    version: ClassVar[str] = "1"
    """Raised when the stage's results change for the same input and parameters."""
    options: ClassVar[tuple[str, ...]] = (
        "name",
        "resources",
        "batch_size",
        "workers",
        "workers_per_node",
        "min_workers",
        "max_workers",
        "max_calls_per_worker",
        "runtime_env",
        "fuse",
        "max_attempts",
        "on_error",
        "timeout_s",
    )
    """What :meth:`with_` and the ``with:`` section of a pipeline file may change."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def process(self, task: X) -> Y | list[Y] | Iterator[Y] | None:
        """Turn one task into one, none (None), several (a list) or an open number (an iterator) of tasks.

        Must not change ``task``; share its columns instead. Override this or :meth:`process_batch`.
        """
        if type(self).process_batch is ProcessingStage.process_batch:
            raise StageError(f"stage {self.name!r} defines neither process nor process_batch")
        (result,) = self.process_batch([task])
        return result

    def process_batch(self, tasks: list[X]) -> Sequence[Y | list[Y] | Iterator[Y] | None]:
        """Process up to ``batch_size`` tasks; the result has one entry per task, in order."""
        return [self.process(task) for task in tasks]

    def setup_on_node(self, node: NodeInfo) -> None:
        """Prepare a machine, once: download weights, compile kernels."""

    def setup(self, worker: WorkerInfo) -> None:
        """Prepare a worker, once: load models, open connections."""

    def teardown(self) -> None:
        """Release what :meth:`setup` opened."""

    def finish(self, run: FinishedRun) -> None:
        """Do what is to be done once when a run has ended, successful or not, in the driver: merge what workers wrote.

        Called after the workers have ended, on the stage of the plan, which was never set up.
        """

    def inputs(self) -> Columns:
        """Name the columns this stage reads (or ``(task attributes, columns)``)."""
        return []

    def outputs(self) -> Columns:
        """Name the columns this stage adds (or ``(task attributes, columns)``)."""
        return []

    def new_columns(self) -> Mapping[str, str]:
        """Name the columns that this stage must not find, because it would replace them, by the parameter for each.

        A pipeline that is known to have one is refused before it runs; a stage that names any calls
        :meth:`check_new_columns` with the columns of its batches, which may not be known before.
        """
        return {}

    def check_new_columns(self, columns: Collection[str]) -> None:
        """Refuse columns, those before this stage, of which it would replace one without a word.

        Raises:
            StageError: Names the parameter to change.
        """
        for parameter, column in self.new_columns().items():
            if column in columns:
                raise StageError(
                    f"{self.name}: there is a column {column!r} already",
                    fix=f"choose another {parameter}, or overwrite: true",
                )

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        """Return the columns behind this stage, given those before it. Override it in stages that remove columns."""
        return columns | frozenset(columns_of(self.outputs()))

    def preflight(self) -> Sequence[str] | None:
        """Check, in the driver and before anything starts, what can only be checked by looking: do inputs exist?

        Returns:
            All columns the output will have, where the stage can tell, else None.
        """
        return None

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the files that were written for some source tasks. Override it in stages that write files.

        Called in the driver when a run is continued: for source tasks that have changed or are gone, and to clear away
        what a killed process has left. A run that starts afresh calls it for what retries of quarantined rows wrote.

        Args:
            sources: Ids of the source tasks, or of retried rows; ids of tasks begin with them.
            only_torn: Remove only files that were never finished.
        """

    def num_workers(self) -> int | None:
        """Return the fixed number of workers, or None to let the executor decide."""
        return self.workers

    def with_(self, **options: Any) -> Self:
        """Return a copy with some of :attr:`options` changed.

        >>> from curator_core import Resources, processing_stage
        >>> @processing_stage(name="same")
        ... def same(task):
        ...     return task
        >>> same.with_(resources=Resources(gpus=0.25), batch_size=128).resources.gpus
        0.25
        """
        twin = copy.copy(self)
        for option, value in options.items():
            if option not in self.options:
                raise UnknownNameError(
                    f"option for stage {self.name!r}:", option, self.options, fix=f"known: {', '.join(self.options)}"
                )
            setattr(twin, option, value)
        vars(twin)["_overrides"] = {**self.overrides, **options}
        return twin

    def values_for(self, made: type[Any]) -> dict[str, Any]:
        """Return what this stage has for the parameters of a dataclass, by their names: to hand on its own parameters.

        >>> from curator_core.sdk import FileReader, Limits
        >>> @dataclass
        ... class ReadLogs(FileReader):
        ...     max_expansion: int = 10
        ...     def read_slice(self, piece): ...
        >>> ReadLogs("logs").values_for(Limits)
        {'max_expansion': 10}
        """
        names = [each.name for each in fields(made)]
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    @property
    def overrides(self) -> dict[str, Any]:
        """The options changed through :meth:`with_`."""
        return dict(getattr(self, "_overrides", {}))


class CompositeStage(ProcessingStage[X, Y]):
    """A stage that stands for several: the planner replaces it by what :meth:`decompose` returns.

    Options given to the composite go to the part that bears its name, or to every part where none does; those that only
    some stages have, such as ``save_dropped`` of filters, to the parts that have them.

    >>> from curator_core import processing_stage
    >>> @processing_stage
    ... def clean(task):
    ...     return task
    >>> class CleanTwice(CompositeStage):
    ...     def decompose(self):
    ...         return [clean.with_(name="first"), clean.with_(name="second")]
    >>> [stage.name for stage in CleanTwice().decompose()]
    ['first', 'second']
    """

    tag: bool = False
    invert: bool = False
    save_dropped: bool = False
    parts: dict[str, dict[str, Any]] | None = None
    """Parameters and options of single parts, by their names: ``{"text.gopher_quality": {"min_words": 20}}``."""

    options: ClassVar[tuple[str, ...]] = (*ProcessingStage.options, "tag", "invert", "save_dropped", "parts")

    @abstractmethod
    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the stages this one stands for, in order."""

    def process(self, task: X) -> Y | list[Y] | Iterator[Y] | None:  # noqa: ARG002 - the signature is the contract
        raise StageError(f"composite stage {self.name!r} is decomposed before it runs; it has no process of its own")


def columns_of(declared: Any) -> list[str]:
    """Return the column names from what ``inputs()`` or ``outputs()`` returned, in either of its forms.

    >>> columns_of(["text"]), columns_of((["data"], ["text"]))
    (['text'], ['text'])
    """
    pair = 2
    if isinstance(declared, tuple) and len(declared) == pair and not any(isinstance(each, str) for each in declared):
        return list(declared[1])
    return list(declared)
