"""What secrets look like in text: by their form, or by the name before them."""

from __future__ import annotations

import re

__all__ = ["MASK", "is_sensitive_name", "redact_shapes"]

MASK = "***"
"""Stands for a secret."""

_VALUE = r"[^\s&;#'\"<>,)\]}]+"
# In the query of a URL even short names are meant: ?key=…&sig=…
_IN_QUERY = (
    r"(?:[\w.-]*[_.-])?"
    r"(?:auth|authorization|credentials?|key|keyid|passphrase|passwd|password|pwd|secret|sig|signature|token)"
)
# Anywhere else "key" and "auth" are ordinary words, and so are "token" and "secret" unless they are given a value.
_WORDS_IN_TEXT = r"(?:(?<![A-Za-z0-9])(?:pwd|secrets?|token|cookie)|(?<=[a-z])(?-i:Secret|Token))"
_NAMES_IN_TEXT = (
    r"(?:passphrase|passwd|passwords?|connection[_-]?string"
    r"|(?:api|access|secret|private|account|subscription|encryption|signing|shared[_-]?access)[_-]?keys?(?:[_-]?id)?"
    r"|shared[_-]?access[_-]?signature|client[_-]?secret|session[_-]?(?:id|key)"
    r"|(?:access|api|auth|bearer|hf|refresh|security|session)[_-]?token)"
)
_NUMBER = r"(?:_?\d{1,3})?"  # API_KEY_2
# Quotes in a text that is itself in quotes have backslashes. The closing one is missing where a text was cut off.
_QUOTE = r"\\{0,7}['\"]"
_MORE = rf"(?:{_VALUE})?"  # directly behind a quote: it would be taken for a part of the value the next time
_QUOTED = (
    rf"(?:[bru]{{0,2}}(?:'(?:[^'\\\n]|\\[^\n])+(?:\\|'{_MORE})?|\"(?:[^\"\\\n]|\\[^\n])+(?:\\|\"{_MORE})?)"
    rf"|\\{{1,7}}'[^'\n]+(?:'{_MORE})?|\\{{1,7}}\"[^\"\n]+(?:\"{_MORE})?)"
)
_LIST = rf"[\[(](?=[^\])\n])(?:[^\])'\"\n]|'[^'\n]*'|\"[^\"\n]*\")*(?:'[^'\n]*|\"[^\"\n]*)?(?:[\])]{_MORE})?"
# Fields of HTTP headers, whose values go on to the end of the line or of the quotes around them; a cookie may have
# quotes of its own. In lower case, "authorization" and "cookie" are ordinary words too.
_KEY_HEADERS = (
    r"(?i:(?:[a-z]{1,20}-){0,3}(?:api-?key|auth-?token|access-?token|security-?token|subscription-key)|private-token"
    r"|x-(?:[a-z]{1,20}-){0,3}(?:key|secret|token))"
)
_LOGIN_HEADERS = r"(?:(?:proxy-)?authorization|(?:set-)?cookie)"
_HEADERS = (
    rf"(?<![A-Za-z0-9-])(?:{_KEY_HEADERS}(?:{_QUOTE})?|(?i:{_LOGIN_HEADERS}){_QUOTE}"
    r"|(?:Proxy-)?Authorization|(?:Set-)?Cookie|(?:PROXY-)?AUTHORIZATION|(?:SET-)?COOKIE)\s{0,3}:\s{0,3}"
)
_SCHEMES = r"(?:ApiKey|AWS4-HMAC-SHA256|Basic|Bearer|Digest|Key|Negotiate|OAuth|SharedKey|Signature|Token)"
_TO_THE_END = r"[^\n'\"]*(?:(?:(?<==)|(?<==\\))\"[^\"\n]*\"[^\n'\"]*)*(?:(?:(?<==)|(?<==\\))\"[^\"\n]*)?"


def _header(opening: str, rest: str) -> re.Pattern[str]:
    """Return a pattern for the value of a header that begins with a quote, or with none."""
    return re.compile(
        rf"({_HEADERS}{opening}(?:(?:Bearer|Basic)\s{{1,3}})?)(?!(?:Bearer|Basic)\s)(?!\*\*\*)(?=[^\s'\"]){rest}"
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
_NAME_WORDS = ("connection", "cookie", "key", "pass", "pwd", "secret", "session", "signature", "token")
_HEADER_WORDS = ("authorization", "cookie", "key", "secret", "token")
# What to look for, what to write instead, and words (in lower case) of which a text must have one: most have none.
_PATTERNS: tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...] = (
    # A line break may be one of a text in quotes, and the end may be missing where the text was cut off.
    (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?!-----)[\sA-Za-z0-9+/=\\:,.()<>@_-]){0,100000}"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        MASK,
        ("-----begin",),
    ),
    # s3://key:secret/with/slash@bucket: a colon that begins no port, and an @ only behind the first slash.
    (
        re.compile(
            r"(?<=://)(?![^\s/?#'\"<>]{0,512}@)[^\s/?#@:'\"<>*]{0,128}:(?!\d{1,5}(?:[/?#\s]|$))[^\s'\"<>]{0,512}@"
        ),
        f"{MASK}@",
        ("://",),
    ),
    # https://user:password@host: nothing before the last @ of the authority is shown.
    (re.compile(r"(?<=://)[^\s/?#'\"<>]*@"), f"{MASK}@", ("://",)),
    (re.compile(rf"(?<=[?&;])({_IN_QUERY}|AWSAccessKeyId)=(?!\*\*\*){_VALUE}", re.IGNORECASE), rf"\1={MASK}", ("=",)),
    (re.compile(r"(hooks\.slack\.com/services/)(?!\*\*\*)[\w/-]+"), rf"\1{MASK}", ("slack",)),
    # token=abc, "api_key": "abc", password='a b', api_keys=['abc'], api_key: abc
    (
        re.compile(
            rf"((?:(?:{_WORDS_IN_TEXT}|{_NAMES_IN_TEXT}){_NUMBER}(?:(?:{_QUOTE})?\s{{0,3}}=|{_QUOTE}\s{{0,3}}:)"
            rf"|{_NAMES_IN_TEXT}{_NUMBER}\s{{0,3}}:)\s{{0,3}})(?:{_LIST}|{_QUOTED}|{_VALUE})",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
        _NAME_WORDS,
    ),
    (re.compile(r"\b((?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1{MASK}", ("bearer", "basic")),
    (_header(r"[bru]{0,2}\\{0,7}'", r"[^'\n]*"), rf"\1{MASK}", _HEADER_WORDS),
    (_header(r"[bru]{0,2}\\{0,7}\"", r"[^\"\n]*"), rf"\1{MASK}", _HEADER_WORDS),
    (_header("", _TO_THE_END), rf"\1{MASK}", _HEADER_WORDS),
    # A pair as clients keep them: (b'X-Api-Key', b'abc')
    (
        re.compile(
            rf"((?:(?<=\(b['\"])|(?<=\(['\"]))(?:{_KEY_HEADERS}|(?i:{_LOGIN_HEADERS}))['\"],\s{{0,3}}){_QUOTED}"
        ),
        rf"\1{MASK}",
        _HEADER_WORDS,
    ),
    # authorization: Token abc, cookie: id=abc; but not "authorization: denied"
    (
        re.compile(
            rf"((?<![A-Za-z0-9-])(?i:{_LOGIN_HEADERS}\s{{0,3}}:\s{{0,3}})"
            rf"(?:(?i:{_SCHEMES})\s{{1,3}}|(?!(?i:{_SCHEMES})\s|[a-z]+(?:[\s,.;:!?)]|$))))(?!\*\*\*)(?=[^\s'\"]){_TO_THE_END}"
        ),
        rf"\1{MASK}",
        _HEADER_WORDS,
    ),
    (_WEB_TOKEN, rf"\1{MASK}", ("eyj",)),
    (re.compile(rf"\b(?:{'|'.join(_TOKENS)})"), MASK, ("",)),
)
_SENSITIVE_NAME = re.compile(
    r"(?:(?:^|[_.-])(?:auth|authorization|bearer|cookies?|credentials?|dsn|jwt|passphrase|passwd|pwd|sas|secrets?"
    r"|signature|token|connection[_-]?string|(?:azure|docker|gh|github|gitlab)[_-]?pat"
    r"|(?:api|access|secret|private|account|subscription|encryption|signing)[_-]?keys?(?:[_-]?id)?)|passwords?)"
    r"(?:[_-]?\d{1,3})?$",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def redact_shapes(text: str) -> str:
    """Return text without what looks like a secret, by its form or by the name before it."""
    lowered = text.lower()
    for pattern, replacement, words in _PATTERNS:
        if any(word in lowered for word in words):
            text = pattern.sub(replacement, text)
    return text


def is_sensitive_name(name: object) -> bool:
    """Return whether a parameter or variable of this name holds a secret.

    >>> [is_sensitive_name(name) for name in ("api_key", "HF_TOKEN", "clientSecret", "max_tokens", "key")]
    [True, True, True, False, False]
    """
    return isinstance(name, str) and _SENSITIVE_NAME.search(_HUMP.sub("_", name)) is not None
