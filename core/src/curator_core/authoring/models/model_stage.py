"""The base of stages that run a model: a subclass loads it, and predicts a batch of rows."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import pyarrow as pa

from curator_core.authoring.models.model_folder import check_model_name, find_model_folder
from curator_core.authoring.models.torch_device import Precision, autocast_for, choose_device, may_use_gpu
from curator_core.authoring.row_outcomes import refuse_rows
from curator_core.authoring.stage import ProcessingStage, columns_of
from curator_core.authoring.tasks import TableBatch, as_column, concat_tables
from curator_core.values.errors import ConfigError, DataError, StageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from curator_core.authoring.stage import NodeInfo, WorkerInfo

    Rows: TypeAlias = pa.Table | list[Any]

__all__ = ["ModelStage", "batches_by_length"]


class ModelStage(ProcessingStage[TableBatch, TableBatch]):
    """Add columns that a model makes of each row.

    A subclass names its ``inputs()`` and ``outputs()``, loads the model, and predicts some rows. The base loads once a
    worker, chooses device and precision, keeps torch to the worker's CPUs, feeds the model a few rows at a time, halves
    what does not fit into memory, finds the rows that the model fails on, and quarantines them alone. A row with a null
    among its inputs is not shown to the model and gets nulls.

    >>> class CountWords(ModelStage):
    ...     uses_torch = False
    ...     def inputs(self):
    ...         return ["text"]
    ...     def outputs(self):
    ...         return ["words"]
    ...     def load(self, device):
    ...         return str.split
    ...     def predict(self, model, rows):
    ...         return [len(model(text)) for text in rows["text"].to_pylist()]
    >>> stage = CountWords().with_(model_batch_size=2)
    >>> stage.setup(None)
    >>> stage.process(TableBatch(data={"text": ["one two", None, "three", ""]})).data["words"].to_pylist()
    [2, None, 1, 0]

    Batches do not cross tasks, so that results depend on a task's own rows only, unless ``batch_size`` says how many
    tasks may share them.
    """

    model_batch_size: int = 32
    """Most rows in one call of the model. This, device and precision are options, for ``with_`` and ``with:``; where a
    dataclass declares them as fields, they are parameters."""
    device: str = "auto"
    """``auto`` (a GPU where the worker has one), ``cpu``, ``cuda``, ``mps``."""
    precision: Precision = "auto"
    """Arithmetic on CUDA: ``float32``, ``bfloat16``, ``float16``, or the better of these two; elsewhere ``float32``."""
    allow_pickle: bool = False
    """Whether :meth:`weights` may be pickles, which can run code; for stages that let the user say so."""
    trust_remote_code: bool = False
    """Whether Python code that comes with :meth:`weights` may run; for stages that let the user say so."""

    fuse = False  # every worker has the weights in memory, so there are only as many as the model needs
    row_wise: ClassVar[bool] = True
    uses_torch: bool = True
    """Whether the model runs in torch; otherwise torch is not imported, and the device is ``cpu`` unless given."""
    unreadable: ClassVar[str] = "UnreadableRow"
    """Class of error, in the quarantine, of rows that :meth:`prepare` cannot read."""
    options: ClassVar[tuple[str, ...]] = (*ProcessingStage.options, "model_batch_size", "device", "precision")

    @abstractmethod
    def load(self, device: str) -> Any:
        """Return the model, loaded.

        A module of torch, or what has one as its attribute ``module``, is then put on the device and into evaluation
        mode.
        """

    @abstractmethod
    def predict(self, model: Any, rows: Any) -> Any:
        """Return the columns for some rows, by name, or the only one: arrays, tensors, series or lists.

        Args:
            model: What :meth:`load` returned.
            rows: An Arrow table of the columns of ``inputs()``, without nulls; a list of what :meth:`prepare` made of
                each row, where the stage has that method.
        """

    def prepare(self, model: Any, batch: TableBatch) -> Iterable[Any]:
        """Yield what the model is shown of each row: None for nothing, a DataError where the row cannot be read.

        Rows are prepared as the model takes them, so that no more than a batch of them is held. Override it for what is
        larger in memory than in a table, such as pixels.
        """
        raise NotImplementedError

    def lengths(self, rows: Any) -> Sequence[int] | None:  # noqa: ARG002 - for subclasses
        """Return the length of each row, for models that pad: rows of similar length are batched, the longest first."""
        return None

    def batch_limit(self, longest: int) -> int:  # noqa: ARG002 - for subclasses
        """Return how many rows to show the model at once, given the length of the longest of them."""
        return self.model_batch_size

    def output_types(self, model: Any) -> Mapping[str, pa.DataType]:  # noqa: ARG002 - for subclasses
        """Return the types of all columns that :meth:`predict` returns; told by the values unless overridden.

        With it, a column has the same type in every batch, also where no row has a value.
        """
        return {}

    def complete(self, batch: TableBatch) -> TableBatch | None:
        """Return what leaves the stage, given the rows with the columns of the model: all of that unless overridden."""
        return batch

    def weights(self) -> str | None:
        """Name the folder, or the id on the Hugging Face hub, that :meth:`load` finds in :meth:`weights_folder`."""
        return None

    def weights_folder(self) -> Path:
        """Return the folder of :meth:`weights`, fetched if need be."""
        name = self.weights()
        assert name is not None, "weights() names it"
        return find_model_folder(
            name, stage=self.name, allow_pickle=self.allow_pickle, trust_remote_code=self.trust_remote_code
        )

    def preflight(self) -> Sequence[str] | None:
        """Check that the weights can be found."""
        name = self.weights()
        if name is not None:
            check_model_name(self.name, name)
        return None

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        """Fetch the weights."""
        if self.weights() is not None:
            self.weights_folder()

    def setup(self, worker: WorkerInfo | None) -> None:
        """Load the model."""
        if self.model_batch_size < 1:
            raise ConfigError(f"{self.name}: model_batch_size must be at least 1, got {self.model_batch_size}")
        device = "cpu" if self.device == "auto" else self.device
        if self.uses_torch:
            import torch

            self._threads = torch.get_num_threads()
            torch.set_num_threads(max(1, int(self.resources.cpus)))
            gpu_allowed = may_use_gpu(self.resources, worker)
            device = str(choose_device(self.device, stage=self.name, gpu_allowed=gpu_allowed))
        model = self.load(device)
        loaded_torch, module = sys.modules.get("torch"), getattr(model, "module", model)
        if loaded_torch is not None and isinstance(module, loaded_torch.nn.Module):
            module.eval().requires_grad_(requires_grad=False).to(device)
        self._running = _Running(model, device, dict(self.output_types(model)))

    @property
    def model_device(self) -> str:
        """The device of the model, for what :meth:`predict` gives it."""
        return self._running.device

    def teardown(self) -> None:
        """Let go of the model."""
        self.__dict__.pop("_running", None)
        threads = self.__dict__.pop("_threads", None)
        if threads is not None:
            import torch

            torch.set_num_threads(threads)

    def process(self, task: TableBatch) -> TableBatch | None:
        (output,) = self.process_batch([task])
        return output

    def process_batch(self, tasks: list[TableBatch]) -> list[TableBatch | None]:
        found = _Found()
        for places, rows in self._batches(tasks, found):
            self._predict(places, rows, found)
            found.check_model_works()
        types = self._running.types or dict.fromkeys(columns_of(self.outputs()), pa.null())
        table = found.in_order(sum(task.num_rows for task in tasks), types)
        outputs: list[TableBatch | None] = []
        begin = 0
        for task in tasks:
            batch = task
            for name in table.column_names:
                batch = batch.with_column(name, table.column(name).slice(begin, task.num_rows).combine_chunks())
            errors = {at - begin: error for at, error in found.errors.items() if begin <= at < begin + task.num_rows}
            batch = refuse_rows(batch, errors, error_type=self.unreadable)
            outputs.append(None if task.num_rows and not batch.num_rows else self.complete(batch))
            begin += task.num_rows
        return outputs

    def _batches(self, tasks: list[TableBatch], found: _Found) -> Iterator[tuple[NDArray[np.int64], Rows]]:
        """Yield rows to show to the model, with their places among all rows of the tasks."""
        if type(self).prepare is ModelStage.prepare:
            columns = columns_of(self.inputs())
            for task in tasks:
                for column in columns:
                    task.check_column(column)
            table = concat_tables([task.data.select(columns) for task in tasks])
            is_null = np.zeros(table.num_rows, np.bool_)
            for column in table.columns:
                is_null |= column.is_null().to_numpy()
            places = np.flatnonzero(~is_null)
            rows: Rows = table if len(places) == table.num_rows else table.take(places)
            yield from self._ordered(places, rows)
            return
        items = self._prepared(tasks, found)
        if type(self).lengths is not ModelStage.lengths:
            everything = list(items)
            yield from self._ordered(np.array([at for at, _ in everything], np.int64), [row for _, row in everything])
            return
        waiting: list[tuple[int, Any]] = []
        for item in items:
            waiting.append(item)
            if len(waiting) >= self.batch_limit(0):
                yield np.array([at for at, _ in waiting]), [row for _, row in waiting]
                waiting = []
        if waiting:
            yield np.array([at for at, _ in waiting]), [row for _, row in waiting]

    def _prepared(self, tasks: list[TableBatch], found: _Found) -> Iterator[tuple[int, Any]]:
        items = (item for task in tasks for item in self.prepare(self._running.model, task))
        for place, item in enumerate(items):
            if isinstance(item, DataError):
                found.errors[place] = item
            elif item is not None:
                yield place, item

    def _ordered(self, places: NDArray[np.int64], rows: Rows) -> Iterator[tuple[NDArray[np.int64], Rows]]:
        lengths = self.lengths(rows)
        if lengths is None:
            size = self.batch_limit(0)
            chosen: Iterable[NDArray[np.int64]] = (
                np.arange(begin, min(begin + size, len(places))) for begin in range(0, len(places), size)
            )
        else:
            chosen = batches_by_length(np.asarray(lengths), self.batch_limit)
        for batch in chosen:
            yield places[batch], _picked(rows, batch)

    def _predict(self, places: NDArray[np.int64], rows: Rows, found: _Found) -> None:
        running = self._running
        try:
            with ExitStack() as contexts:
                if self.uses_torch:
                    import torch

                    contexts.enter_context(torch.inference_mode())
                    contexts.enter_context(autocast_for(torch.device(running.device), self.precision))
                made = self.predict(running.model, rows)
                table = _as_table(made, columns_of(self.outputs()), running.types, len(places), stage=self.name)
        except (StageError, MemoryError):  # no fault of a row
            raise
        except Exception as error:
            is_too_large = type(error).__name__ == "OutOfMemoryError"  # of torch, which may not be imported
            if len(places) == 1:
                if is_too_large:
                    raise
                found.fail(int(places[0]), error)
                return
        else:
            found.add(places, table)
            return
        if is_too_large and self.uses_torch:  # outside of the handler, which keeps the failed call's tensors alive
            torch.cuda.empty_cache()
        middle = (len(places) + 1) // 2
        for half in (np.arange(middle), np.arange(middle, len(places))):
            self._predict(places[half], _picked(rows, half), found)


@dataclass
class _Running:
    """A loaded model, where it runs, and what it makes."""

    model: Any
    device: str
    types: dict[str, pa.DataType]


@dataclass
class _Found:
    """What a model made of the rows of some tasks, which are known by their places."""

    places: list[NDArray[np.int64]] = field(default_factory=list)
    tables: list[pa.Table] = field(default_factory=list)
    errors: dict[int, Exception] = field(default_factory=dict)
    failed: list[Exception] = field(default_factory=list)

    def add(self, places: NDArray[np.int64], table: pa.Table) -> None:
        self.places.append(places)
        self.tables.append(table)

    def fail(self, place: int, error: Exception) -> None:
        self.errors[place] = error
        if not isinstance(error, DataError):  # which tells of the row
            self.failed.append(error)

    def check_model_works(self) -> None:
        """Raise where every row so far has failed: then it is the model that is broken, not the rows."""
        if self.failed and not self.tables:
            raise self.failed[0]

    def in_order(self, count: int, types: Mapping[str, pa.DataType]) -> pa.Table:
        """Return the columns of all rows; null for rows of which nothing was made."""
        if not self.tables:
            return pa.table({name: pa.nulls(count, kind) for name, kind in types.items()})
        table = concat_tables(self.tables)
        places = np.concatenate(self.places)
        if len(places) == count and (np.diff(places) > 0).all():
            return table
        index = np.full(count, -1, np.int64)
        index[places] = np.arange(len(places))
        return table.take(pa.array(index, mask=index < 0))


def batches_by_length(lengths: NDArray[Any], limit: Any) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of the rows of each batch: rows of similar length, the longest first.

    >>> [batch.tolist() for batch in batches_by_length(np.array([2, 9, 1, 8]), lambda longest: 18 // longest)]
    [[1, 3], [0, 2]]

    Args:
        lengths: Length of each row.
        limit: Says how many rows fit, given the length of the longest; one is always taken.
    """
    order = np.argsort(-lengths, kind="stable")
    begin = 0
    while begin < len(order):
        size = max(1, limit(int(lengths[order[begin]])))
        yield order[begin : begin + size]
        begin += size


def _picked(rows: Rows, chosen: NDArray[np.int64]) -> Rows:
    return [rows[index] for index in chosen.tolist()] if isinstance(rows, list) else rows.take(chosen)


def _as_table(made: Any, names: list[str], types: Mapping[str, pa.DataType], count: int, *, stage: str) -> pa.Table:
    if not isinstance(made, Mapping):
        if len(names) != 1:
            raise StageError(
                f"{stage}: predict returned {type(made).__name__} for {len(names)} columns",
                fix=f"return a dictionary with {', '.join(names)}",
            )
        made = {names[0]: made}
    columns = {name: _as_array(values, types.get(name)) for name, values in made.items()}
    for name, column in columns.items():
        if len(column) != count:
            raise StageError(f"{stage}: predict returned {len(column)} values of {name!r} for {count} rows")
    return pa.table(columns)


def _as_array(values: Any, kind: pa.DataType | None) -> Any:
    """Return values as a column of Arrow: a matrix, of numpy or torch, becomes lists of a fixed size."""
    if hasattr(values, "detach"):  # of torch, without importing it
        values = values.detach()
        values = (values.float() if values.is_floating_point() else values).cpu().numpy()
    if isinstance(values, np.ndarray) and values.ndim == 2:  # noqa: PLR2004 - a matrix
        flat = pa.array(np.ascontiguousarray(values).reshape(-1))
        return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])
    return as_column(values, kind)
