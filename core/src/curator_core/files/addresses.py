"""Keep URLs out of data from reaching machines inside the network: loopback, private and link-local addresses."""

from __future__ import annotations

import ipaddress
import socket
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from curator_core.files.locations import check_location
from curator_core.values.errors import LocationError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import SimpleNamespace

__all__ = ["check_address", "http_options", "is_public"]

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 addresses that stand for the IPv4 address in their last four bytes (RFC 6052)."""


def is_public(address: str) -> bool:
    """Return whether an address is one of the public internet.

    >>> [is_public(each) for each in ("93.184.216.34", "127.0.0.1", "10.1.2.3", "169.254.169.254", "::ffff:10.0.0.1")]
    [True, False, False, False, False]
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF)
        if inner is not None:
            found = inner
    return found.is_global and not found.is_multicast


def resolve(host: str) -> list[str]:
    """Return the addresses of a host as the system resolves it, which also reads ``2130706433`` and ``0x7f.1``."""
    return sorted({str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)})


def check_address(url: str, *, resolver: Callable[[str], Iterable[str]] = resolve) -> None:
    """Refuse a URL whose host has an address that is not public.

    The connection resolves the name again, so this does not stop a name server that answers differently a moment later;
    where that matters, run behind a firewall that does.

    Raises:
        LocationError: It has; or it has no address at all.
        ConnectionError: The name server does not answer, so that it may help to try again.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    fix = f"to allow it, set allowed_locations: ['{parts.scheme}://{parts.netloc.rpartition('@')[2]}/'] on this stage"
    try:
        addresses = list(resolver(host))
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise ConnectionError(f"the host {host!r} cannot be resolved: {error.strerror}") from error
        raise LocationError(
            f"{url!r} is not opened, because its host has no address: {error.strerror}; {fix}"
        ) from error
    inside = [each for each in addresses if not is_public(each)]
    if inside or not addresses:
        raise LocationError(
            f"{url!r} is not opened, because its host has the address {', '.join(inside) or 'none'}, which is not one "
            f"of the public internet; {fix}"
        )


@lru_cache(maxsize=64)
def http_options(allowed: tuple[str, ...]) -> dict[str, Any]:
    """Return options for fsspec's HTTP filesystem that check redirects: to the same host, or below what is allowed."""
    try:
        import aiohttp
    except ImportError as error:
        raise MissingPackageError("reading http:// paths", package="aiohttp", pip='"curator-core[http]"') from error

    async def check_redirect(_: Any, __: SimpleNamespace, params: Any) -> None:
        url, headers = str(params.url), params.response.headers
        target = headers.get("Location") or headers.get("URI") or ""  # aiohttp follows either
        # The request itself was checked, so it is the origin of what it redirects to.
        check_location(urljoin(url, target), origin=url, allowed=allowed)

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(check_redirect)
    return {"client_kwargs": {"trace_configs": [trace]}}
