"""Find e-mail addresses and telephone numbers in a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_text.privacy.spans import Span

__all__ = ["EMAIL_SCREEN", "LOGIN_SCREEN", "PHONE_SCREEN", "find_emails", "find_logins", "find_phones"]

EMAIL_SCREEN = r"[\p{L}\p{M}\p{N}_%+-]@[\p{L}\p{N}\[]"
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
    r"\U00020000-\U0003ffff"
)
"""Letters of scripts without spaces between words: there, letters before an address are not part of it."""
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[\u0300-\u036f])"
_LOCAL = re.compile(rf"(?:{_LETTER}|[._%+\-]){{1,64}}\Z")
_DOMAIN = re.compile(
    rf"(?:{_LETTER}(?:(?:{_LETTER}|-){{0,61}}{_LETTER})?\.)+"
    rf"(xn--[a-z0-9-]{{2,59}}|[A-Za-z]{{2,24}}|[^\W\d_A-Za-z{_UNSPACED}]{{2,24}})(?![A-Za-z0-9_-])"
    r"|()(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9.])"
    r"|()\[(?:IPv6:)?[0-9A-Fa-f:.]{2,45}\]"
)
"""A name, of which the last part is the first group, or the address of a machine."""
_FILE_ENDINGS = frozenset(
    {"bmp", "css", "gif", "htm", "html", "ico", "jpeg", "jpg", "js", "json", "map", "md", "mjs", "php", "png", "py"}
    | {"svg", "ts", "txt", "webp"}
)
"""Endings of files that follow an ``@`` in the names of images for dense screens (``logo@2x.png``) and of packages."""


def find_emails(text: str) -> Iterator[Span]:
    """Yield where the e-mail addresses are.

    >>> [text[a:b] for text in ["Write to ann.b@mail.example.org."] for a, b in find_emails(text)]
    ['ann.b@mail.example.org']
    """
    at = text.find("@")
    while at >= 0:
        end = at + 1
        local = _LOCAL.search(text, max(0, at - 64), at)
        domain = _DOMAIN.match(text, at + 1)
        if local and domain and (domain[1] or "").lower() not in _FILE_ENDINGS:
            begin = local.start() + len(local[0]) - len(local[0].lstrip("."))
            if begin < at and text[at - 1] != ".":
                end = domain.end()
                yield begin, end
        at = text.find("@", end)


LOGIN_SCREEN = "://[^/@]*@"
_LOGIN = re.compile(r"[^\s/@:]{1,256}:[^\s/@]{1,256}(?=@)")


def find_logins(text: str) -> Iterator[Span]:
    """Yield where names and passwords of web addresses are.

    >>> [text[a:b] for text in ["postgres://ann:s3cret@db.example.org/x"] for a, b in find_logins(text)]
    ['ann:s3cret']
    """
    at = text.find("://")
    while at >= 0:
        login = _LOGIN.match(text, at + 3)
        if login:
            yield login.span()
        at = text.find("://", at + 3)


_CUES = (
    r"(?:\b(?:(?:tele)?phones?|tele?fono?|tel\u00e9fono|t\u00e9l\u00e9phone|telefoon|tel|t\u00e9l|(?:tele)?fax|mobile?|"
    r"handy|cell|call(?:ing)?|dial|whatsapp|hotline|sms|tlf|puh|gsm|ph)\b|[\u260e\u260f\U0001f4de\U0001f4f1]|"
    r"\u0442\u0435\u043b|\u03c4\u03b7\u03bb|\u7535\u8bdd|\u96fb\u8a71|\uc804\ud654|\u0647\u0627\u062a\u0641)"
)
"""Words that announce a telephone number, in the languages of larger web corpora."""
_NEAR = r"[^0-9\n]{0,15}"
PHONE_SCREEN = (
    r"(?:\+|\b00)[1-9][0-9 ().\-/]{6}"
    r"|[2-9][0-9]{2}\)?[ .\-]{1,2}[2-9][0-9]{2}[ .\-][0-9]{4}"
    r"|0[1-9](?:[ .\-][0-9]{2}){4}"
    rf"|(?i:{_CUES}){_NEAR}[0-9(+][0-9 ().\-/]{{4}}"
).replace(r"\b", r"(?-u:\b)")
_RUN = re.compile(r"[+(]{0,2}[0-9](?:[ ().\-/\u00a0\u2011\u2013]{0,3}[0-9]){6,19}")
"""Digits with at most three marks between two of them: everything that could be a number, and more."""
_CUE_BEFORE = re.compile(rf"(?i:{_CUES}){_NEAR}\Z")
_NANP = re.compile(
    r"(?:1[ .-])?(?:\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[ .-][0-9]{4}|[2-9][0-9]{2}([.-])[2-9][0-9]{2}\1[0-9]{4})"
)
"""Area code and exchange of the North American Numbering Plan begin with 2 to 9."""
_FRENCH = re.compile(r"0[1-9](?:([ .-])[0-9]{2})(?:\1[0-9]{2}){3}")
_COUNTRY_CODES = re.compile(
    r"1|7|2(?:[07]|[1-6][0-9]|9[01789])|3(?:[0-469]|[578][0-9])|4(?:[013-9]|2[0-9])|5(?:[1-8]|0[0-9]|9[0-9])|"
    r"6(?:[0-6]|[7-9][0-9])|8(?:[1246]|0[08]|5[0-9]|[78][0-9])|9(?:[0-58]|6[0-9]|7[0-9]|9[0-9])"
)
"""Country codes, from the list of ITU-T Recommendation E.164; unassigned ones inside a zone are let through."""
_NATIONAL_DIGITS = (7, 15)
_INTERNATIONAL_DIGITS = (8, 15)
"""E.164 allows 15 digits; shorter ones than these are service numbers and prices."""


def find_phones(text: str) -> Iterator[Span]:
    """Yield where the telephone numbers are.

    International numbers count (``+49 30 901820``), North American and French ones in their usual form, and any other
    run of digits only behind a word such as "tel".

    >>> [text[a:b] for text in ["Tel. 030 901820, +1 (212) 555-0187; ISBN 978-3-16-148410-0"]
    ...     for a, b in find_phones(text)]
    ['030 901820', '+1 (212) 555-0187']
    """
    for run in _RUN.finditer(text):
        begin, end = run.span()
        if _is_inside_a_word(text, begin, end):
            continue
        if text[begin] == "(" and ")" not in run[0]:
            begin += 1
        number = text[begin:end]
        if _is_phone(number) or (_fits(number, _NATIONAL_DIGITS) and _is_announced(text, begin)):
            yield begin, end
            continue
        yield from ((begin + part.start(), begin + part.end()) for part in _parts(number))


def _parts(number: str) -> Iterator[re.Match[str]]:
    """Yield numbers in their national form inside a longer run, such as one behind a year or a page."""
    for pattern in (_NANP, _FRENCH):
        for part in pattern.finditer(number):
            before, after = number[: part.start()], number[part.end() :]
            if (not before or before.endswith("  ")) and (not after or after.startswith("  ")):
                yield part


def _is_phone(number: str) -> bool:
    digits = re.sub(r"[^0-9]", "", number)
    if number.lstrip("(").startswith("+"):
        code = _COUNTRY_CODES.match(digits)
        return bool(code) and _fits(number, _INTERNATIONAL_DIGITS)
    if number.startswith("00") and digits != number:
        code = _COUNTRY_CODES.match(number, 2)
        return bool(code) and _fits(number[2:], _INTERNATIONAL_DIGITS)
    return bool(_NANP.fullmatch(number) or _FRENCH.fullmatch(number))


def _fits(number: str, limits: tuple[int, int]) -> bool:
    return limits[0] <= sum(each.isdigit() for each in number) <= limits[1]


def _is_announced(text: str, begin: int) -> bool:
    return _CUE_BEFORE.search(text, max(0, begin - 32), begin) is not None


def _is_inside_a_word(text: str, begin: int, end: int) -> bool:
    """Tell whether the run continues as a product number, a version, an amount or a hash."""
    before, after = text[begin - 1 : begin], text[end : end + 1]
    if before and (before.isalnum() or before in "_#$€£=&%@~\\^<"):
        return True
    if before in ("-", ".", "/", ",", ":") and begin > 1 and text[begin - 2].isalnum():
        return True
    if after and (after.isalnum() or after in "_%$€£@="):
        return True
    return after in ("-", ".", "/", ",", ":") and text[end + 1 : end + 2].isalnum()
