"""Write documents as tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.sdk import MISSING_VALUE, ConfigError, FileWriter, StageError, report

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from curator_core.sdk import Columns, FileGroupTask, TableBatch, WorkerInfo

__all__ = ["WriteTokens"]

NO_TOKENS = "no_tokens"
"""Reason of documents that have no tokens: there is nothing to write."""


@dataclass
class WriteTokens(FileWriter):
    """Write every batch to a pair of files that Megatron trains from: ``.bin`` (token ids) and ``.idx`` (documents).

    Documents are tokenized here, or their tokens are taken from a column of lists of numbers. Each becomes one
    sequence. Vocabularies below 65,500 are stored in two bytes a token, others in four. The task returned names both
    files; its ``meta`` has ``rows``, ``tokens`` and ``bytes``. Documents without text or tokens are left out and
    counted as dropped. Each file appears whole or not at all, the index last.

    >>> WriteTokens("shards", tokenizer="tokenizer.json", eod="<|endoftext|>").file_name("3f2a/0")
    'part-3f2a-0.bin'

    Args:
        path: Output folder or URL; created where missing.
        tokenizer: A ``tokenizer.json`` of Hugging Face, or a folder that has one.
        token_column: Column with the tokens, in place of a tokenizer.
        vocab_size: Size of the vocabulary behind ``token_column``; four bytes a token where it is not given.
        eod: Token put after each document: its text, or its number.
        add_special_tokens: Let the tokenizer add the tokens that its model expects around a text.
        text_column: Column with the text.
    """

    tokenizer: str | None = None
    token_column: str | None = field(default=None, kw_only=True)
    vocab_size: int | None = field(default=None, kw_only=True)
    eod: str | int | None = field(default=None, kw_only=True)
    add_special_tokens: bool = field(default=False, kw_only=True)
    text_column: str = field(default="text", kw_only=True)

    name = "text.write_tokens"
    extension = ".bin"

    def __post_init__(self) -> None:
        if (self.tokenizer is None) == (self.token_column is None):
            raise ConfigError(
                f"stage {self.name!r}: give either tokenizer or token_column",
                fix="tokenizer: path/to/tokenizer.json",
            )
        if self.tokenizer is None and isinstance(self.eod, str):
            raise ConfigError(f"stage {self.name!r}: eod={self.eod!r} needs a tokenizer", fix="give eod as a number")

    def inputs(self) -> Columns:
        return [self.text_column if self.token_column is None else self.token_column]

    def output_extensions(self) -> tuple[str, ...]:
        return (".bin", ".idx")

    def preflight(self) -> Sequence[str] | None:
        """Check the output folder and the tokenizer.

        Raises:
            ConfigError: The folder cannot be written to, or the tokenizer cannot be read.
        """
        self._end_of_document()
        return super().preflight()

    def setup(self, worker: WorkerInfo) -> None:
        """Load the tokenizer, once a process."""
        super().setup(worker)
        self._end_of_document()

    def process(self, task: TableBatch) -> FileGroupTask | None:
        """Write a batch; return its files, or None where no document has tokens."""
        import numpy as np

        from curator_text.writing.token_shards import token_type, write_shard

        stem = self.file_path(self.file_name(task.task_id, ""))
        tokens, lengths = self._tokens_of_text(task) if self.token_column is None else self._tokens_of_column(task)
        kind = token_type(self._vocabulary_size())
        end = self._end_of_document()
        if end is not None and len(lengths):
            ends = np.cumsum(lengths)
            tokens = np.insert(tokens, ends, end)
            lengths = lengths + 1
        if not len(lengths):
            return None
        self._check_values(tokens, kind)
        sizes = write_shard(stem, tokens.astype(kind, copy=False), lengths)
        written = self.written(task, sizes, rows=len(lengths))
        written.meta["tokens"] = len(tokens)
        return written

    def _tokens_of_text(self, task: TableBatch) -> tuple[NDArray[Any], NDArray[Any]]:
        import numpy as np

        texts = task.text(self.text_column)
        _count_missing(texts.null_count())
        encoder = _load_tokenizer(self._tokenizer_path())
        found = encoder.encode_batch_fast(texts.drop_nulls().to_list(), add_special_tokens=self.add_special_tokens)
        parts = [np.array(each.ids, dtype=np.int64) for each in found]
        return _without_empty(np.concatenate([np.array([], dtype=np.int64), *parts]), [len(part) for part in parts])

    def _tokens_of_column(self, task: TableBatch) -> tuple[NDArray[Any], NDArray[Any]]:
        import pyarrow as pa
        import pyarrow.compute as pc

        assert self.token_column is not None
        task.check_column(self.token_column)
        column = task.data.column(self.token_column)
        kind = column.type
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
        if pa.types.is_null(kind):
            column, is_list = column.cast(pa.list_(pa.int64())), True
        elif not is_list or not (pa.types.is_integer(kind.value_type) or pa.types.is_null(kind.value_type)):
            raise StageError(
                f"column {self.token_column!r} holds {kind}, but lists of token ids were expected",
                fix="name the column that holds the tokens, or give a tokenizer",
            )
        _count_missing(column.null_count)
        present = column.drop_null().combine_chunks()
        lengths = pc.list_value_length(present).to_numpy(zero_copy_only=False)
        values = pc.list_flatten(present)
        if values.null_count:
            raise StageError(f"column {self.token_column!r} has a null among its tokens", fix="remove or replace it")
        return _without_empty(values.cast(pa.int64()).to_numpy(zero_copy_only=False), lengths)

    def _check_values(self, tokens: NDArray[Any], kind: np.dtype[Any]) -> None:
        import numpy as np

        if len(tokens) and not (tokens.min() >= 0 and tokens.max() <= np.iinfo(kind).max):
            raise StageError(
                f"stage {self.name!r}: token ids from {tokens.min()} to {tokens.max()} do not fit {kind}",
                fix="is vocab_size right?",
            )

    def _vocabulary_size(self) -> int | None:
        if self.token_column is not None:
            return self.vocab_size
        size: int = _load_tokenizer(self._tokenizer_path()).get_vocab_size(with_added_tokens=True)
        return size

    def _end_of_document(self) -> int | None:
        if self.token_column is not None:
            return self.eod if isinstance(self.eod, int) else None
        encoder = _load_tokenizer(self._tokenizer_path())
        if not isinstance(self.eod, str):
            return self.eod
        found: int | None = encoder.token_to_id(self.eod)
        if found is None:
            raise ConfigError(
                f"stage {self.name!r}: the tokenizer has no token {self.eod!r}", fix="give eod as it is spelled there"
            )
        return found

    def _tokenizer_path(self) -> str:
        path = Path(self.tokenizer or "")
        return str(path / "tokenizer.json" if path.is_dir() else path)


@cache
def _load_tokenizer(path: str) -> Any:
    from tokenizers import Tokenizer

    if not Path(path).is_file():
        raise ConfigError(f"there is no tokenizer {path!r}", fix="give the path of a tokenizer.json")
    try:
        return Tokenizer.from_file(path)
    except Exception as error:  # the library raises bare Exception
        raise ConfigError(
            f"{path!r} is not a tokenizer: {error}", fix="give a tokenizer.json of Hugging Face"
        ) from error


def _count_missing(count: int) -> None:
    if count:
        report().drop(MISSING_VALUE, count)


def _without_empty(tokens: NDArray[Any], lengths: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    import numpy as np

    sizes = np.asarray(lengths, dtype=np.int64)
    empty = int((sizes == 0).sum())
    if empty:
        report().drop(NO_TOKENS, empty)
    return tokens, sizes[sizes > 0]
