"""Decode single lines of JSON, exactly, and report those that are no records."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import orjson

from curator_core.sdk import BadRecord, report
from curator_table.json.columns import MAX_NESTING, is_too_deep
from curator_table.lines import PAYLOAD_BYTES, too_long

if TYPE_CHECKING:
    from curator_core.sdk import Limits
    from curator_table.lines import Block

__all__ = ["BadLines", "Problem", "decode_record"]

Problem = tuple[str, str]
"""Short class and description of the error in a line."""

_BAD_RECORDS_PER_BLOCK = 1000
_LONG_INTEGER = re.compile(rb"\d{19}")  # digits of -(2**63); shorter numbers are exact in orjson
_END_OF_KEY = re.compile(rb'"[ \t\r]*:')


def decode_record(line: bytes, limits: Limits) -> tuple[Any, Problem | None]:
    """Return the record of a line, or its error.

    Integers of any size come out as they are, and a key that appears twice is a problem: orjson rounds the former
    and keeps the last value of the latter.
    """
    if len(line) > limits.max_record_bytes:
        return None, ("RecordTooLong", too_long(limits))
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return None, ("InvalidJson", f"not valid JSON: {error}")
    if not isinstance(value, dict):
        return None, ("NotAnObject", f"a record must be a JSON object, this is {type(value).__name__}")
    if is_too_deep(line, value):
        return None, ("NestedTooDeep", f"the record nests more than {MAX_NESTING} levels deep")
    # Text may contain the end of a key, so more of them than keys are only a reason to check closely.
    if len(_END_OF_KEY.findall(line)) != _count_keys(value) or _LONG_INTEGER.search(line):
        return _decode_exactly(line)
    return value, None


def _decode_exactly(line: bytes) -> tuple[Any, Problem | None]:
    try:
        return json.loads(line, object_pairs_hook=_without_duplicates), None
    except _DuplicateKeyError as error:
        return None, ("DuplicateKey", f"the key {error.args[0]!r} appears twice in one object")
    except ValueError as error:  # Python refuses integers of thousands of digits
        return None, ("InvalidJson", f"not usable JSON: {error}")


class _DuplicateKeyError(Exception):
    """A key appears twice in one object."""


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        seen: set[str] = set()
        raise _DuplicateKeyError(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return record


def _count_keys(value: Any) -> int:
    if value.__class__ is dict:
        return len(value) + sum(_count_keys(each) for each in value.values() if each.__class__ in (dict, list))
    return sum(_count_keys(each) for each in value if each.__class__ in (dict, list))


class BadLines:
    """Report the bad lines of a block: the first thousand of each class one by one, the others together.

    A file that is not JSON lines at all must not fill the memory with reports.

    Args:
        block: Where the lines are.
        path: The file.
    """

    def __init__(self, block: Block, path: str) -> None:
        self._block = block
        self._path = path
        self._counts: dict[str, int] = {}
        self._last = 0

    def add(self, start: int, end: int, problem: Problem) -> None:
        """Report the line from ``start`` to ``end`` of the block."""
        error_type, message = problem
        self._counts[error_type] = self._counts.get(error_type, 0) + 1
        self._last = self._block.offset + start
        if self._counts[error_type] <= _BAD_RECORDS_PER_BLOCK:
            payload = self._block.data[start : min(end, start + PAYLOAD_BYTES)]
            report().bad_record(BadRecord(message, self._path, self._last, error_type, payload))

    def close(self) -> None:
        """Report how many more there were."""
        for error_type, count in self._counts.items():
            if count > _BAD_RECORDS_PER_BLOCK:
                more = count - _BAD_RECORDS_PER_BLOCK
                message = f"{more:,} more bad lines up to byte {self._last:,}; is this file JSON lines?"
                report().bad_record(BadRecord(message, self._path, self._last, error_type, rows=more))
