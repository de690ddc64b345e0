"""Keep secrets out of what leaves the program: passwords in URLs, signed queries, tokens.

Applied where text leaves: errors, messages, logs, and everything in the run directory but the data itself.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MASK", "RedactingFormatter", "is_sensitive_name", "redact", "redact_logs", "redact_values"]

MASK = "***"
"""Stands for a secret."""

_VALUE = r"[^\s&;#'\"<>,)\]}]+"
# In the query of a URL even short names are meant: ?key=…&sig=…
_IN_QUERY = (
    r"(?:[\w.-]*[_.-])?"
    r"(?:auth|authorization|credentials?|key|keyid|passphrase|passwd|password|pwd|secret|sig|signature|token)"
)
# Anywhere else "key" and "auth" are ordinary words, and "token" too unless it is given a value.
_IN_TEXT = (
    r"(?<![A-Za-z0-9])"
    r"(?:passphrase|passwd|password|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|secret[_-]?key|private[_-]?key)"
)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    # https://user:password@host: nothing before the last @ of the authority is shown.
    (re.compile(r"(?<=://)[^\s/?#'\"<>]*@"), f"{MASK}@"),
    (re.compile(rf"(?<=[?&;])({_IN_QUERY}|AWSAccessKeyId)=(?!\*\*\*){_VALUE}", re.IGNORECASE), rf"\1={MASK}"),
    # token=abc, "api_key": "abc", password='a b'
    (
        re.compile(
            rf"({_IN_TEXT}['\"]?\s{{0,3}}(?:=|['\"]:)\s{{0,3}})(?:'[^'\n]+'|\"[^\"\n]+\"|{_VALUE})", re.IGNORECASE
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\b((?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1{MASK}"),
    # Tokens that can be told by their looks: AWS, GitHub, Hugging Face, and the many that begin with sk-.
    (
        re.compile(
            r"\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[a-z]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|hf_[A-Za-z0-9]{20,}"
            r"|sk-[A-Za-z0-9_-]{20,})"
        ),
        MASK,
    ),
)
_SENSITIVE_NAME = re.compile(
    r"(?:^|[_.-])(?:auth|authorization|credentials?|passphrase|passwd|password|pwd|secret|signature|token"
    r"|api_?key|access_?key(?:_?id)?|secret_?key|private_?key|account_?key)$",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Return text without the secrets in it.

    >>> redact("cannot open https://me:hunter2@host/f.jsonl?X-Amz-Signature=3f2a&part=1")
    'cannot open https://***@host/f.jsonl?X-Amz-Signature=***&part=1'
    """
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text


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


def is_sensitive_name(name: object) -> bool:
    """Return whether a parameter or variable of this name holds a secret.

    >>> [is_sensitive_name(name) for name in ("api_key", "HF_TOKEN", "max_tokens", "key")]
    [True, True, False, False]
    """
    return isinstance(name, str) and _SENSITIVE_NAME.search(name) is not None


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
    return MASK if isinstance(value, str) and value and is_sensitive_name(name) else redact_values(value)
