"""Keep secrets out of what leaves the program: passwords in URLs, signed queries, tokens, values of variables.

Applied where text leaves: errors, messages, logs, and everything in the run directory but the data itself.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from curator_core.values.secret_shapes import MASK, is_sensitive_name, redact_shapes

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "MASK",
    "RedactingFormatter",
    "hide",
    "is_sensitive_name",
    "redact",
    "redact_credentials",
    "redact_hidden",
    "redact_logs",
    "redact_shapes",
    "redact_values",
]

# Short values are part of other words by chance; those above are replaced wherever they occur.
_MIN_HIDDEN_CHARS = 4
_MIN_CHARS_INSIDE_WORDS = 8


class _HiddenValues:
    """Values that are to be hidden wherever they turn up in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forms: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._is_stale = False

    def add(self, value: str) -> None:
        with self._lock:
            before = len(self._forms)
            if len(value) >= _MIN_HIDDEN_CHARS and value.strip("* \n"):
                self._forms |= _forms(value)
            if "\n" in value:  # of which messages often show a line
                lines = (each.strip() for each in value.split("\n"))
                self._forms |= {form for each in lines if len(each) >= _MIN_CHARS_INSIDE_WORDS for form in _forms(each)}
            self._is_stale |= len(self._forms) > before

    def mask(self, text: str) -> str:
        if self._is_stale:  # compiled here, because values often come one after another
            with self._lock:
                longest_first = sorted(self._forms, key=len, reverse=True)
                self._pattern = re.compile("|".join(map(_exactly, longest_first)))
                self._is_stale = False
        return text if self._pattern is None else self._pattern.sub(MASK, text)


_hidden = _HiddenValues()
_credentials = _HiddenValues()


def hide(value: str, *, is_credential: bool) -> None:
    """Hide a value wherever it turns up in text that leaves this process, from now on.

    One of less than four characters is too likely to be part of something else. A credential is known to be a secret,
    which changes without changing the output of a run.
    """
    _hidden.add(value)
    if is_credential:
        _credentials.add(value)


def redact(text: str) -> str:
    """Return text without the secrets in it.

    >>> redact("cannot open https://me:hunter2@host/f.jsonl?X-Amz-Signature=3f2a&part=1")
    'cannot open https://***@host/f.jsonl?X-Amz-Signature=***&part=1'
    """
    return redact_shapes(redact_hidden(text))


def redact_credentials(text: str, *, by_shape: bool = True) -> str:
    """Return text without credentials: hidden values that are known to be some, and what looks like a secret.

    For paths that are needed as they are: which other values are hidden depends on what this process has loaded.
    """
    known = _credentials.mask(text)
    return redact_shapes(known) if by_shape else known


def redact_hidden(text: str) -> str:
    """Return text without the values that :func:`hide` was given."""
    return _hidden.mask(text)


def redact_values(value: Any) -> Any:
    """Return a value as JSON has them, with every text in it redacted; what has a sensitive name is hidden whole.

    >>> redact_values({"path": "s3://key:secret@bucket", "api_key": "3f2a", "rows": 5})
    {'path': 's3://***@bucket', 'api_key': '***', 'rows': 5}
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _member(key, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact_values(each) for each in value]
    return value


class RedactingFormatter(logging.Formatter):
    """Formats log records, tracebacks included, without the secrets in them."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for a record."""
        return redact(super().format(record))


def redact_logs() -> None:
    """Keep secrets out of everything that is logged in this process, whoever has set up a handler for it."""
    if not isinstance(logging.getLogRecordFactory(), _RedactingFactory):
        logging.setLogRecordFactory(_RedactingFactory(logging.getLogRecordFactory()))
    if logging.lastResort is not None:  # what Python prints where nobody has set up anything, tracebacks included
        logging.lastResort.setFormatter(RedactingFormatter())


class _RedactingFactory:
    """Makes log records whose message has no secrets."""

    def __init__(self, usual: Callable[..., logging.LogRecord]) -> None:
        self._usual = usual

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self._usual(*args, **kwargs)
        with suppress(Exception):  # arguments that do not suit the message are reported where it is formatted
            record.msg, record.args = redact(record.getMessage()), None
        return record


def _member(name: object, value: Any) -> Any:
    if is_sensitive_name(name):
        if isinstance(value, (str, bytes)):
            return MASK if value else value
        if isinstance(value, (list, tuple)):
            return [_member(name, each) for each in value]
    return redact_values(value)


def _forms(value: str) -> set[str]:
    """Return a value as it may be quoted: in Python, in JSON, in a URL."""
    forms = {value, repr(value)[1:-1], json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    with suppress(UnicodeEncodeError):  # half of a character, which no URL has
        forms |= {quote(value, safe=""), quote(value), quote_plus(value)}
    return forms


def _exactly(value: str) -> str:
    pattern = re.escape(value)
    return pattern if len(value) >= _MIN_CHARS_INSIDE_WORDS else rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])"
