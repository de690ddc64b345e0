"""Keep, drop and rename columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from curator_core.sdk import (
    ROW_COLUMN,
    SOURCE_COLUMN,
    ConfigError,
    ProcessingStage,
    StageError,
    TableBatch,
    UnknownNameError,
)

if TYPE_CHECKING:
    from curator_core.sdk import Columns

__all__ = ["SelectColumns"]

_PROVENANCE = (SOURCE_COLUMN, ROW_COLUMN)


@dataclass
class SelectColumns(ProcessingStage[TableBatch, TableBatch]):
    """Keep some columns or drop some, and rename some. Provenance columns always stay, under their own names.

    >>> batch = TableBatch(data={"body": ["hello"], "html": ["<p>hello"], "url": ["a.org"]})
    >>> SelectColumns(drop=["html"], rename={"body": "text"}).process(batch).columns
    ['text', 'url']

    Args:
        keep: Columns to keep, in this order; all others go.
        drop: Columns to leave out, where they exist.
        rename: New names by old name.
    """

    keep: list[str] | None = None
    drop: list[str] | None = None
    rename: dict[str, str] | None = None

    name = "table.select"
    row_wise: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.keep is None and self.drop is None and self.rename is None:
            raise ConfigError(f"{self.name}: nothing to do", fix="give keep, drop or rename")
        if self.keep is not None and self.drop is not None:
            raise ConfigError(f"{self.name}: keep and drop exclude each other", fix="give one of them")
        renames = self.rename or {}
        for column in _PROVENANCE:
            if column in (self.drop or ()) or column in renames or column in renames.values():
                raise ConfigError(f"{self.name}: provenance column {column!r} always stays", fix="leave it out")
        lost = [each for each in renames if each in (self.drop or ()) or each not in (self.keep or renames)]
        if lost:
            raise ConfigError(f"{self.name}: {lost[0]!r} is renamed, but not kept", fix="keep it, or do not rename it")
        if len(set(renames.values())) < len(renames):
            raise ConfigError(f"{self.name}: two columns are renamed to the same name")

    def inputs(self) -> Columns:
        return list(dict.fromkeys([*(self.keep or ()), *(self.rename or ())]))

    def outputs(self) -> Columns:
        return list((self.rename or {}).values())

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        """Return the columns that are left, under their new names."""
        return frozenset(self._selection(list(columns)).values())

    def process(self, task: TableBatch) -> TableBatch:
        """Return the batch with the selected columns; their data are shared."""
        for column in self.inputs():
            if column not in task.columns:
                raise UnknownNameError("column", str(column), task.columns, fix=f"the batch has: {task.columns}")
        selection = self._selection(task.columns)
        names = list(selection.values())
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise StageError(
                f"{self.name}: the new name {twice!r} is taken by a column that stays", fix=f"drop {twice!r} as well"
            )
        return task.with_data(task.data.select(list(selection)).rename_columns(names))

    def _selection(self, columns: list[str]) -> dict[str, str]:
        """Return the new name of every column that stays, by old name."""
        kept = [each for each in columns if each not in (self.drop or ())]
        if self.keep is not None:
            provenance = [each for each in _PROVENANCE if each in columns and each not in self.keep]
            kept = [*dict.fromkeys(self.keep), *provenance]
        return {each: (self.rename or {}).get(each, each) for each in kept}
