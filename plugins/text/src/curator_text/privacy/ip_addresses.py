"""Find IP addresses in a text, and tell them from versions, section numbers and times."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_text.privacy.spans import Span

__all__ = ["IP_SCREEN", "find_ips", "find_public_ips"]

_Address: TypeAlias = "ipaddress.IPv4Address | ipaddress.IPv6Address"

IP_SCREEN = (
    r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]|[0-9A-Fa-f]{1,4}:(?:[0-9A-Fa-f]{1,4}:){3}|[0-9A-Fa-f]::[0-9A-Fa-f]"
)
_V4 = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")
_V6 = re.compile(
    r"[0-9A-Fa-f]{1,4}::?(?:[0-9A-Fa-f]{1,4}::?){1,7}(?:[0-9A-Fa-f]{1,4})?(?:(?:\.[0-9]{1,3}){3})?|[0-9A-Fa-f]{1,4}::[0-9A-Fa-f]{1,4}"
)
_NOT_AN_ADDRESS = re.compile(
    r"(?i:\bv|\bver|versions?|releases?|rev|section|sect|chapter|clause|article|figure|fig|table|firmware|build|update|"
    r"upgrade|patch|driver|rfc|edition|bundle|sdk|\u00a7|oid|>=?|<=?|={1,2}|~)[ .:=v(]{0,3}\Z"
)
"""Words before version and section numbers, which have four parts as often as addresses do."""
_ADDRESS_CUE = re.compile(
    r"(?i:\bip|\baddr|address(?:es)?|host|server|dns|ping|://|@|\bfrom|gateway|proxy)[ :=(\[v46]{0,6}\Z"
)
_SMALL = 30
_MOSTLY_SMALL = 3
"""Where three of four numbers are small it is a version far more often than an address, of which one in 150 is like
that: it counts only behind a word such as "address"."""
_CONTEXT = 24
_GLOBAL_V6 = ipaddress.ip_network("2000::/3")
"""The addresses that are given out for the public network (RFC 4291); with few groups, all else is rarely one."""
_NAMES_WITH_COLONS = 2
"""``Ab::Cd`` is a name in many programming languages."""


def find_ips(text: str) -> Iterator[Span]:
    """Yield where IP addresses of either version are.

    >>> [text[a:b] for text in ["10.0.0.1, 2001:db8::1 and version 1.2.3.4 at 12:34:56"] for a, b in find_ips(text)]
    ['2001:db8::1', '10.0.0.1']
    """
    for begin, end, _ in _addresses(text):
        yield begin, end


def find_public_ips(text: str) -> Iterator[Span]:
    """Yield where addresses of the public network are: not private, loopback, documentation or multicast ones."""
    for begin, end, address in _addresses(text):
        if address.is_global and not address.is_multicast and not address.is_reserved:
            yield begin, end


def _addresses(text: str) -> Iterator[tuple[int, int, _Address]]:
    if ":" in text:
        for match in _V6.finditer(text):
            begin, end = match.span()
            if match[0].endswith(":") and not match[0].endswith("::"):
                end -= 1
            address = _parse(text[begin:end], ipaddress.IPv6Address)
            if address is not None and _is_v6(address, text, begin, end):
                yield begin, end, address
    for match in _V4.finditer(text):
        address = _parse(match[0], ipaddress.IPv4Address)
        if address is not None and _is_v4(text, *match.span()):
            yield *match.span(), address


def _parse(text: str, kind: type[ipaddress.IPv4Address | ipaddress.IPv6Address]) -> _Address | None:
    try:
        return kind(text)
    except ValueError:
        return None


def _is_v4(text: str, begin: int, end: int) -> bool:
    near = max(0, begin - _CONTEXT)
    if not _stands_alone(text, begin, end) or _NOT_AN_ADDRESS.search(text, near, begin):
        return False
    small = sum(int(part) < _SMALL for part in text[begin:end].split("."))
    return small < _MOSTLY_SMALL or text.startswith("10.", begin) or _ADDRESS_CUE.search(text, near, begin) is not None


def _is_v6(address: _Address, text: str, begin: int, end: int) -> bool:
    groups = len(re.findall(r"[0-9A-Fa-f]+", text[begin:end]))
    is_likely = address in _GLOBAL_V6 or groups > _NAMES_WITH_COLONS
    return is_likely and _stands_alone(text, begin, end)


def _stands_alone(text: str, begin: int, end: int) -> bool:
    before, after = text[begin - 1 : begin], text[end : end + 1]
    if before and (before.isalnum() or before in "_.-:"):
        return False
    if after and (after.isalnum() or after == "_"):
        return False
    return not (after in (".", "-") and text[end + 1 : end + 2].isalnum())
