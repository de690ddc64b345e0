"""Bring transcripts to one form before they are compared."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["normalise"]

_WITHIN_WORDS = re.compile("(?<=\\w)['\u2019](?=\\w)")
_BRACKETED = re.compile(r"\[[^\]]*\]|\([^)]*\)|<[^>]*>")
_NOT_WORDS = re.compile(r"[^\w\s]|_")


def normalise(text: str) -> str:
    """Return the words of a transcript, in lower case and separated by single spaces.

    Compatibility forms of characters become plain ones (NFKC). What stands in brackets, such as ``[noise]``, and
    apostrophes inside words go away; all other punctuation becomes a space. Numbers stay as they are written.

    >>> normalise("Don't panic [laughs] -- It's  ÜBER-simple.")
    'dont panic its über simple'
    """
    plain = unicodedata.normalize("NFKC", text).casefold()
    words = _NOT_WORDS.sub(" ", _WITHIN_WORDS.sub("", _BRACKETED.sub(" ", plain)))
    return " ".join(words.split())
