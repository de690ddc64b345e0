"""How long to wait before a request is sent again."""

from __future__ import annotations

import email.utils
from datetime import datetime, timezone

__all__ = ["delay_s", "retry_after_s"]

_FIRST_S = 0.5
_MAX_S = 60.0
_MAX_ASKED_S = 600.0


def delay_s(attempt: int, *, asked_s: float | None, place: float) -> float:
    """Return the wait after a failed attempt: the time requested by the server, else twice as long every time.

    >>> delay_s(3, asked_s=None, place=1.0), delay_s(1, asked_s=7.0, place=0.0)
    (2.0, 7.0)

    Args:
        attempt: Number of the attempt that failed, from one.
        asked_s: The wait requested by the server.
        place: From 0 to 1: where in the second half of the wait to end, so that many clients do not return at once.
    """
    if asked_s is not None:
        return min(asked_s, _MAX_ASKED_S)
    return min(_FIRST_S * 2.0 ** (attempt - 1), _MAX_S) * (0.5 + 0.5 * place)


def retry_after_s(header: str | None, *, now: datetime | None = None) -> float | None:
    """Read a Retry-After header: seconds, or a date.

    >>> retry_after_s("1.5"), retry_after_s("soon"), retry_after_s(None)
    (1.5, None, None)
    """
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        then = email.utils.parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=timezone.utc)
    return max(0.0, (then - (now or datetime.now(timezone.utc))).total_seconds())
