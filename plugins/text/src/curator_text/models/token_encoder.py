"""Turn text into token ids in Arrow lists, and count tokens, without reading more of a text than is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from curator_core.sdk import StageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from tokenizers import Encoding, Tokenizer

__all__ = ["TokenEncoder", "count_tokens"]

_CALL_CHARS = 1 << 22  # characters per call: an encoding takes some fifty bytes a token while it is made
_PIECE_CHARS = 1 << 20
_FIRST_CHARS_PER_TOKEN = 12  # English has 4 to 5, so that one look is enough for most texts
_MARGIN = 32  # tokens this far before a cut are the same as without it
_SPACES = " \n\t\r"


@dataclass(frozen=True)
class _Special:
    """The ids that a tokenizer puts around a text."""

    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.before) + len(self.after)


class TokenEncoder:
    """Encodes texts up to a number of tokens, special ones included.

    A long text is read only as far as needed: its beginning is encoded, and more of it where that gave too few tokens.
    The ids are those of the whole text cut to ``max_length``.

    Args:
        tokenizer: The tokenizer; its own truncation is switched off.
        max_length: Maximum number of tokens of a text.
        max_chars: Maximum number of characters of a text; None for no limit but that of the tokens.
    """

    def __init__(self, tokenizer: Tokenizer, *, max_length: int, max_chars: int | None = None) -> None:
        self._cuts_left = (tokenizer.truncation or {}).get("direction") == "left"
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._special = _special_ids(tokenizer)
        self._room = max_length - self._special.count
        self._max_chars = max_chars
        if self._room < 1:
            raise StageError(
                f"max_length={max_length} leaves no room beside the {self._special.count} special tokens",
                fix="raise max_length",
            )

    def encode(self, texts: pl.Series) -> pa.ListArray:
        """Return one list of ids per text; a null for a null."""
        if self._max_chars is not None:
            texts = texts.str.head(self._max_chars)
        rows: list[np.ndarray | None] = [None] * len(texts)
        todo = [(row, text) for row, text in enumerate(texts.to_list()) if text is not None]
        chars = self._room * _FIRST_CHARS_PER_TOKEN + _MARGIN
        while todo:
            again = []
            for part in _parts(todo, None if self._cuts_left else chars):
                heads = [text if self._cuts_left else text[:chars] for _, text in part]
                encodings = self._tokenizer.encode_batch_fast(heads, add_special_tokens=False)
                for (row, text), encoding in zip(part, encodings, strict=True):
                    if self._cuts_left or len(text) <= chars or len(encoding) >= self._room + _MARGIN:
                        rows[row] = self._ids(encoding)
                    else:
                        again.append((row, text))
            todo, chars = again, chars * 8
        return _list_array(rows)

    def _ids(self, encoding: Encoding) -> np.ndarray:
        ids = np.array(encoding.ids, dtype=np.int32)  # the library gives them as Python numbers only
        ids = ids[-self._room :] if self._cuts_left else ids[: self._room]
        if not self._special.count:
            return ids
        return np.concatenate([self._special.before, ids, self._special.after], dtype=np.int32)


def count_tokens(tokenizer: Tokenizer, texts: pl.Series, *, add_special_tokens: bool = False) -> pl.Series:
    """Return how many tokens each text has; null for null.

    Texts of more than a million characters are counted in pieces, cut before a space, to keep memory flat.
    """
    import polars as pl

    special = tokenizer.num_special_tokens_to_add(False) if add_special_tokens else 0
    counts = np.full(len(texts), special, dtype=np.int64)
    pieces = [
        (row, piece)
        for row, text in enumerate(texts.to_list())
        if text is not None
        for piece in ([text] if len(text) <= _PIECE_CHARS else _pieces(text))
    ]
    for part in _parts(pieces, None):
        encodings = tokenizer.encode_batch_fast([piece for _, piece in part], add_special_tokens=False)
        for (row, _), encoding in zip(part, encodings, strict=True):
            counts[row] += len(encoding)
    return pl.select(pl.when(texts.is_not_null()).then(pl.Series(counts))).to_series()


def _pieces(text: str) -> Iterator[str]:
    begin = 0
    while len(text) - begin > _PIECE_CHARS:
        end = begin + _PIECE_CHARS
        # Tokenizers split words before the space that follows them, so such a cut changes no token.
        cut = max(text.rfind(space, begin + 1, end) for space in _SPACES)
        while cut > begin + 1 and text[cut - 1] in _SPACES:
            cut -= 1
        end = cut if cut > begin + 1 else end
        yield text[begin:end]
        begin = end
    yield text[begin:]


def _parts(texts: Sequence[tuple[int, str]], max_chars: int | None) -> Iterator[list[tuple[int, str]]]:
    """Yield texts in parts of a bounded number of characters."""
    part: list[tuple[int, str]] = []
    chars = 0
    for item in texts:
        part.append(item)
        chars += len(item[1]) if max_chars is None else min(len(item[1]), max_chars)
        if chars >= _CALL_CHARS:
            yield part
            part, chars = [], 0
    if part:
        yield part


def _special_ids(tokenizer: Tokenizer) -> _Special:
    expected = tokenizer.num_special_tokens_to_add(False)
    if not expected:
        return _Special((), ())
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    full = tokenizer.encode("a").ids
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare and len(full) - len(bare) == expected:
            return _Special(tuple(full[:start]), tuple(full[start + len(bare) :]))
    raise StageError("the tokenizer does not put its special tokens before and after the text")


def _list_array(rows: Sequence[np.ndarray | None]) -> pa.ListArray:
    lengths = np.array([0 if row is None else len(row) for row in rows], dtype=np.int64)
    offsets = np.zeros(len(rows) + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    present = [row for row in rows if row is not None]
    values = np.concatenate(present) if present else np.empty(0, dtype=np.int32)
    missing = np.array([row is None for row in rows], dtype=bool)
    mask = pa.array(missing) if missing.any() else None
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values, pa.int32()), mask=mask)
