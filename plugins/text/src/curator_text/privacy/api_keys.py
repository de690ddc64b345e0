"""Find keys and tokens of well-known services in a text, by their published forms."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_text.privacy.spans import Span

__all__ = ["API_KEY_SCREEN", "PRIVATE_KEY_SCREEN", "find_api_keys", "find_private_keys"]

API_KEY_SCREEN = (
    r"(?:AKIA|ASIA)[A-Z2-7]{4}|gh[oprsu]_[A-Za-z0-9]{4}|github_pat_|glpat-|xox[abeoprs]-|AIza[0-9A-Za-z_-]{4}|"
    r"sk-[A-Za-z0-9_-]{8}|[rs]k_(?:live|test)_|hf_[A-Za-z]{8}|npm_[A-Za-z0-9]{8}|pypi-AgE|eyJ[A-Za-z0-9_-]{8}"
)
_KEYS = re.compile(
    r"(?:AKIA|ASIA)[A-Z2-7]{16}"  # Amazon Web Services
    r"|gh[oprsu]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"  # GitHub
    r"|glpat-[A-Za-z0-9_-]{20,}"  # GitLab
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,250}"  # Slack
    r"|AIza[A-Za-z0-9_-]{35}"  # Google
    r"|sk-(?:[a-z0-9]{2,12}-){0,2}[A-Za-z0-9_-]{20,200}"  # OpenAI, Anthropic and those who write keys like them
    r"|[rs]k_(?:live|test)_[A-Za-z0-9]{16,250}"  # Stripe
    r"|hf_[A-Za-z]{34}"  # Hugging Face
    r"|npm_[A-Za-z0-9]{36}"
    r"|pypi-AgE[A-Za-z0-9_-]{40,}"
)
_WEB_TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*")
_WEB_TOKEN_HEAD = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{13,}(?=\.[A-Za-z0-9_-]{10,}\.)")
"""A run of characters before the dots of a JSON web token.

To look for tokens themselves would take the square of the time on a text of many beginnings and no dot.
"""
PRIVATE_KEY_SCREEN = "-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY"
_PRIVATE_KEY = re.compile(
    r"-----BEGIN ([A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----(?:(?!-----BEGIN).){0,20000}?-----END \1-----", re.DOTALL
)
_MIN_AFTER = 10  # characters behind the eyJ of a web token
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def find_private_keys(text: str) -> Iterator[Span]:
    r"""Yield where private key blocks are, from their first line to their last.

    >>> block = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
    >>> list(find_private_keys(f"my key:\n{block}")) == [(8, 8 + len(block))]
    True
    """
    for match in _PRIVATE_KEY.finditer(text):
        yield match.span()


def find_api_keys(text: str) -> Iterator[Span]:
    """Yield where keys and tokens are.

    >>> [text[a:b] for text in ["export KEY=AKIAIOSFODNN7EXAMPLE"] for a, b in find_api_keys(text)]
    ['AKIAIOSFODNN7EXAMPLE']
    """
    for match in _key_matches(text):
        begin, end = match.span()
        if text[begin - 1 : begin] in _WORD or text[end : end + 1] in _WORD:
            continue
        if match[0].startswith("eyJ") and not _is_token_header(match[0].partition(".")[0]):
            continue
        if match[0].startswith("sk-") and not _looks_random(match[0]):
            continue
        yield begin, end


def _key_matches(text: str) -> Iterator[re.Match[str]]:
    """Yield keys and web tokens from left to right, none inside another."""
    heads = _WEB_TOKEN_HEAD.finditer(text)
    head = next(heads, None)
    key, token = _KEYS.search(text), None
    position = 0
    while True:
        if key is not None and key.start() < position:
            key = _KEYS.search(text, position)
        if token is not None and token.start() < position:
            token = None
        while head is not None and token is None:
            begin = text.find("eyJ", max(head.start(), position), head.end() - _MIN_AFTER)
            if begin >= 0:
                token = _WEB_TOKEN.match(text, begin)
            else:
                head = next(heads, None)
        chosen = token if key is None or (token is not None and token.start() < key.start()) else key
        if chosen is None:
            return
        yield chosen
        position = chosen.end()


def _is_token_header(part: str) -> bool:
    """Tell whether this is the header of a JSON web token (RFC 7519): an object that names an algorithm."""
    try:
        decoded = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (binascii.Error, ValueError):
        return False
    return b'"alg"' in decoded or b'"typ"' in decoded


def _looks_random(key: str) -> bool:
    """Tell a key from a name with dashes, such as a class of a style sheet."""
    tail = max(re.split(r"[-_]", key), key=len)
    return any(each.isdigit() for each in key) and any(each.isupper() for each in tail) and any(map(str.islower, tail))
