"""Find credit card numbers, IBANs and social security numbers in a text, by form and checksum."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_text.privacy.spans import Span

__all__ = ["CARD_SCREEN", "IBAN_SCREEN", "SSN_SCREEN", "find_cards", "find_ibans", "find_ssns", "has_luhn_digit"]

CARD_SCREEN = r"[2-6](?:[ -]?[0-9]){13}"
_CARD = re.compile(
    r"[2-6][0-9]{13,18}|[2-6][0-9]{3}(?:([ -])[0-9]{4}){3}(?:\1[0-9]{3})?|3[0-9]{3}([ -])[0-9]{6}\2[0-9]{4,5}"
)
"""Digits in one block, in fours, or as American Express and Diners Club print them."""
_ISSUERS = (
    (re.compile(r"4"), (16, 19)),  # Visa; its numbers of 13 digits are no longer given out
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),  # Mastercard
    (re.compile(r"3[47]"), (15,)),  # American Express
    (re.compile(r"30[0-5]|3[689]"), (14, 16, 19)),  # Diners Club
    (re.compile(r"6011|64[4-9]|65"), (16, 19)),  # Discover
    (re.compile(r"35(?:2[89]|[3-8])"), (16, 17, 18, 19)),  # JCB
    (re.compile(r"62"), (16, 17, 18, 19)),  # UnionPay
)
"""Prefixes and lengths of card numbers by issuer (ISO/IEC 7812 and the issuers' published ranges)."""


def find_cards(text: str) -> Iterator[Span]:
    """Yield where credit card numbers are: a known issuer, its length, and a right check digit.

    >>> [text[a:b] for text in ["4111 1111 1111 1111, not 4111 1111 1111 1112"] for a, b in find_cards(text)]
    ['4111 1111 1111 1111']
    """
    for match in _CARD.finditer(text):
        digits = match[0].replace(" ", "").replace("-", "")
        has_length = any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in _ISSUERS)
        if has_length and has_luhn_digit(digits) and len(set(digits)) > 1 and _stands_alone(text, *match.span()):
            yield match.span()


def has_luhn_digit(digits: str) -> bool:
    """Tell whether the last digit is right for the others (Luhn's formula, ISO/IEC 7812-1).

    >>> has_luhn_digit("4111111111111111"), has_luhn_digit("4111111111111112")
    (True, False)
    """
    doubled = [sum(divmod(2 * int(each), 10)) for each in digits[-2::-2]]
    return (sum(doubled) + sum(map(int, digits[::-2]))) % 10 == 0


_IBAN_LENGTHS = {
    entry[:2]: int(entry[2:])
    for group in (
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20",
        "EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30",
        "KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24",
        "PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29",
        "VA22 VG24 XK20 YE30",
    )
    for entry in group.split()
}
"""Length of an IBAN by country (SWIFT's IBAN registry)."""
IBAN_SCREEN = r"[A-Z]{2}[0-9]{2}[ -]?[0-9A-Z]{4}[ -]?[0-9A-Z]{4}"
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}(?:[ -]?[0-9A-Z]){11,30}")


def find_ibans(text: str) -> Iterator[Span]:
    """Yield where international bank account numbers are: a country, its length, and right check digits.

    >>> [text[a:b] for text in ["IBAN: DE89 3704 0044 0532 0130 00 BIC COBADEFF"] for a, b in find_ibans(text)]
    ['DE89 3704 0044 0532 0130 00']
    """
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[0][:2])
        letters = [at for at in range(match.start(), match.end()) if text[at] not in " -"]
        if length is None or len(letters) < length:
            continue
        begin, end = match.start(), letters[length - 1] + 1
        number = "".join(text[at] for at in letters[:length])
        if _has_iban_digits(number) and _stands_alone(text, begin, end):
            yield begin, end


def _has_iban_digits(number: str) -> bool:
    """Tell whether the check digits are right: ISO 13616, modulo 97."""
    moved = number[4:] + number[:4]
    return int("".join(str(int(each, 36)) for each in moved)) % 97 == 1


SSN_SCREEN = r"[0-9]{3}-[0-9]{2}-[0-9]{4}"
_SSN = re.compile(r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}")


def find_ssns(text: str) -> Iterator[Span]:
    """Yield where social security numbers of the United States are; they have no check digit.

    >>> [text[a:b] for text in ["SSN 219-09-9999, not 900-12-3456"] for a, b in find_ssns(text)]
    ['219-09-9999']
    """
    for match in _SSN.finditer(text):
        if _stands_alone(text, *match.span()):
            yield match.span()


def _stands_alone(text: str, begin: int, end: int) -> bool:
    before, after = text[begin - 1 : begin], text[end : end + 1]
    if (before and (before.isalnum() or before in "_-.=/#")) or (after and (after.isalnum() or after == "_")):
        return False
    if before == " " and begin > 1 and text[begin - 2].isdigit():
        return False  # in the middle of a row of numbers
    return not (after in (".", "-", " ", "/") and text[end + 1 : end + 2].isdigit())
