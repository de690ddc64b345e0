"""Read units of work into tables: what every reader of files shares, whatever is in them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from curator_core.authoring.recording import BadRecord, report
from curator_core.authoring.stage import ProcessingStage
from curator_core.authoring.tasks import FileGroupTask, TableBatch
from curator_core.files.filesystems import is_transient
from curator_core.files.limits import DEFAULT_BLOCK_BYTES, Limits
from curator_core.values.errors import CuratorError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from curator_core.authoring.tasks import FileSlice

__all__ = ["PieceReader"]


@dataclass
class PieceReader(ProcessingStage[FileGroupTask, TableBatch]):
    """Base of stages that read units of work: a subclass turns one file, or a piece of one, into tables.

    Neighbouring small files share a table where their columns agree. A file that cannot be read is reported as a bad
    record; the other files of the unit come out.

    >>> import pyarrow as pa
    >>> @dataclass
    ... class Names(PieceReader):
    ...     def read_piece(self, piece):
    ...         yield pa.table({"name": [piece.path]})
    >>> [table.data["name"].to_pylist() for table in Names().process(FileGroupTask(data=["a", "b"]))]
    [['a', 'b']]

    Args:
        batch_bytes: Size of a table.
        limits: Caps against hostile files.
        batch_type: Type of task to make.
    """

    batch_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limits: Limits = field(default=Limits(), kw_only=True)
    batch_type: type[TableBatch] = field(default=TableBatch, kw_only=True)

    thread_safe: ClassVar[bool] = True

    @abstractmethod
    def read_piece(self, piece: FileSlice) -> Iterator[pa.Table]:
        """Yield the tables of a file or of a piece of one, with their provenance."""

    def process(self, task: FileGroupTask) -> Iterator[TableBatch]:
        """Yield the tables of a unit of work."""
        from curator_core.authoring.joining import join_tables

        for table in join_tables(self._tables(task.data), self.batch_bytes):
            yield self.batch_type(data=table, dataset_name=task.dataset_name, meta=dict(task.meta))

    def _tables(self, pieces: Iterable[FileSlice]) -> Iterator[pa.Table]:
        for piece in pieces:
            try:
                yield from self.read_piece(piece)
            except DataError as error:  # noqa: PERF203 - each file may fail on its own
                source = error.source or piece.path
                message = error.message.removeprefix(f"{source}: ")
                report().bad_record(BadRecord(message, source, error.row or 0, error_type="UnreadableFile"))
            except CuratorError:
                raise
            except Exception as error:
                # Isolation border: a damaged file may make a parser raise anything, which must not cost its neighbours.
                if is_transient(error):
                    raise
                message = f"the file cannot be read: {type(error).__name__}: {error}"
                report().bad_record(BadRecord(message, piece.path, 0, error_type=type(error).__name__))
