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
    r"(?:passphrase|passwd|password|pwd|secret|token|cookie|connection[_-]?string"
    r"|(?:api|access|secret|private|account|subscription|encryption|signing|shared[_-]?access)[_-]?key(?:[_-]?id)?"
    r"|shared[_-]?access[_-]?signature|client[_-]?secret|session[_-]?(?:id|key))"
)
# Fields of HTTP headers, whose values go on to the end of the line or of the quotes around them.
_HEADERS = (
    r"(?<![A-Za-z0-9-])(?:(?:Proxy-)?Authorization|(?:Set-)?Cookie"
    r"|(?i:(?:[a-z]{1,20}-){0,3}(?:api-?key|auth-?token|access-?token|security-?token|subscription-key)|private-token))"
)
# Tokens that can be told by their looks.
_TOKENS = (
    r"(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}",  # AWS
    r"gh[a-z]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[A-Za-z0-9_-]{16,}",  # GitHub, GitLab
    r"hf_[A-Za-z0-9]{20,}|api_org_[A-Za-z0-9]{20,}",  # Hugging Face
    r"(?:sk|rk|pk)[-_][A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic, Stripe and many others
    r"AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}",  # Google
    r"xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}",  # Slack
    r"npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}",  # package registries
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
    r"dapi[0-9a-f]{32}|dop_v1_[0-9a-f]{32,}",  # Databricks, DigitalOcean
    r"r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|nvapi-[A-Za-z0-9_-]{20,}",  # Replicate, Groq, NVIDIA
)
# JSON web tokens. Whether a dot follows is asked once for each run of characters, not for each "eyJ" in it: many of
# those and no dot would take the square of the time.
_WEB_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]{11,}\.[A-Za-z0-9_-]{8})([A-Za-z0-9_-]*?)"
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"
)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    # A line break may be one of a text in quotes, and the end may be missing where the text was cut off.
    (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----)[\sA-Za-z0-9+/=\\:,.-]){0,100000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        MASK,
    ),
    # s3://key:secret/with/slash@bucket: a colon that begins no port, and an @ only behind the first slash.
    (
        re.compile(
            r"(?<=://)(?![^\s/?#'\"<>]{0,512}@)[^\s/?#@:'\"<>*]{1,128}:(?!\d{1,5}(?:[/?#\s]|$))[^\s'\"<>]{0,512}@"
        ),
        f"{MASK}@",
    ),
    # https://user:password@host: nothing before the last @ of the authority is shown.
    (re.compile(r"(?<=://)[^\s/?#'\"<>]*@"), f"{MASK}@"),
    (re.compile(rf"(?<=[?&;])({_IN_QUERY}|AWSAccessKeyId)=(?!\*\*\*){_VALUE}", re.IGNORECASE), rf"\1={MASK}"),
    (re.compile(r"(hooks\.slack\.com/services/)(?!\*\*\*)[\w/-]+"), rf"\1{MASK}"),
    # token=abc, "api_key": "abc", password='a b'
    (
        re.compile(
            rf"({_IN_TEXT}['\"]?\s{{0,3}}(?:=|['\"]:)\s{{0,3}})(?:'[^'\n]+'|\"[^\"\n]+\"|{_VALUE})", re.IGNORECASE
        ),
        rf"\1{MASK}",
    ),
    (re.compile(r"\b((?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1{MASK}"),
    (
        re.compile(
            rf"({_HEADERS}['\"]?\s{{0,3}}:\s{{0,3}}['\"]?(?:(?:Bearer|Basic)\s{{1,3}})?)"
            r"(?!(?:Bearer|Basic)\s)(?!\*\*\*)[^\s'\"][^\n'\"]*"
        ),
        rf"\1{MASK}",
    ),
    (_WEB_TOKEN, rf"\1{MASK}"),
    (re.compile(rf"\b(?:{'|'.join(_TOKENS)})"), MASK),
)
_SENSITIVE_NAME = re.compile(
    r"(?:^|[_.-])(?:auth|authorization|bearer|cookies?|credentials?|dsn|jwt|passphrase|passwords?|passwd|pwd|sas|secrets?"
    r"|signature|token|connection[_-]?string"
    r"|(?:api|access|secret|private|account|subscription|encryption|signing)[_-]?keys?(?:[_-]?id)?)$",
    re.IGNORECASE,
)

# Short values are part of other words by chance; those above are replaced wherever they occur.
_SHORTEST_HIDDEN = 4
_SHORTEST_INSIDE_WORDS = 8


class _HiddenValues:
    """Values that are to be hidden wherever they turn up in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forms: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def add(self, value: str) -> None:
        with self._lock:
            before = len(self._forms)
            if len(value) >= _SHORTEST_HIDDEN and value.strip("* \n"):
                self._forms |= _forms(value)
            if "\n" in value:  # of which messages often show a line
                lines = (each.strip() for each in value.split("\n"))
                self._forms |= {form for each in lines if len(each) >= _SHORTEST_INSIDE_WORDS for form in _forms(each)}
            if len(self._forms) > before:
                longest_first = sorted(self._forms, key=len, reverse=True)
                self._pattern = re.compile("|".join(map(_exactly, longest_first)))

    def mask(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(MASK, text)


_hidden = _HiddenValues()
_credentials = _HiddenValues()


def hide(value: str, *, is_credential: bool) -> None:
    """Hide a value wherever it turns up in text that leaves this process, from now on.

    Args:
        value: The value; one of less than four characters is too likely to be part of something else.
        is_credential: Whether it is known to be a secret, which changes without changing the output of a run.
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


def redact_credentials(text: str) -> str:
    """Return text without credentials: hidden values that are known to be some, and what looks like a secret.

    For paths that are needed as they are: which other values are hidden depends on what this process has loaded.
    """
    return redact_shapes(_credentials.mask(text))


def redact_hidden(text: str) -> str:
    """Return text without the values that :func:`hide` was given."""
    return _hidden.mask(text)


def redact_shapes(text: str) -> str:
    """Return text without what looks like a secret, by its form or by the name before it."""
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

    >>> [is_sensitive_name(name) for name in ("api_key", "HF_TOKEN", "X-Api-Key", "max_tokens", "key")]
    [True, True, True, False, False]
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
    if is_sensitive_name(name):
        if isinstance(value, str):
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
    return pattern if len(value) >= _SHORTEST_INSIDE_WORDS else rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])"
