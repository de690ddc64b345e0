"""Find out in seconds whether an address is a Ray head: Ray itself would try for minutes."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket

from curator_core.values.errors import ConfigError

__all__ = ["is_loopback", "speaks_grpc", "split_address"]

_PROBE_S = 5.0
# A gRPC server answers HTTP/2's opening bytes with a settings frame. The dashboard's port, the usual mistake, does not.
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_EMPTY_SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
_FRAME_HEADER_BYTES = 9
_SETTINGS_FRAME = 4


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of a Ray address.

    >>> split_address("head.example:6379")
    ('head.example', 6379)

    Raises:
        ConfigError: It is not an address that a driver can join.
    """
    if address.startswith("ray://"):
        raise ConfigError(
            f"address {address!r} is a Ray Client address; stages and tables cannot be shared through a client",
            fix="run on a machine of the cluster and give the head's own address, such as head:6379",
        )
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit():
        raise ConfigError(f"address {address!r} is not host:port", fix="give the head's address, such as head:6379")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine's loopback.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("head")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def speaks_grpc(host: str, port: int, *, timeout_s: float = _PROBE_S) -> bool:
    """Return whether a gRPC server listens there, as Ray's head does."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=timeout_s) as connection:
        if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
            return True  # the opening bytes are encrypted: that something listens has to do
        connection.sendall(_PREFACE + _EMPTY_SETTINGS)
        answer = b""
        while len(answer) < _FRAME_HEADER_BYTES and (more := connection.recv(_FRAME_HEADER_BYTES - len(answer))):
            answer += more
        return len(answer) == _FRAME_HEADER_BYTES and answer[3] == _SETTINGS_FRAME
    return False
