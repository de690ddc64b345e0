"""Send one request per row: several at a time, within limits, again where that can help."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.sdk import StageError
from curator_text.llm.chat_client import RequestRefused, TransientFailure
from curator_text.llm.rate_limit import RateLimit
from curator_text.llm.retry_delays import delay_s

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_text.llm.chat_client import ChatAnswer, ChatClient

__all__ = ["RowFailure", "RowOutcome", "RowRequests"]

_CHARS_PER_TOKEN = 4  # a rough estimate of the cost of a prompt, until the endpoint reports it


@dataclass(frozen=True)
class RowFailure:
    """Why a row has no answer.

    Args:
        message: The description.
        kind: Class of the error, for counting.
    """

    message: str
    kind: str


@dataclass(frozen=True)
class RowOutcome:
    """The outcome of a row.

    Args:
        result: The answer, or why there is none.
        requests: How often the endpoint was asked.
    """

    result: ChatAnswer | RowFailure
    requests: int


class RowRequests:
    """Asks an endpoint about many rows.

    Args:
        client: The endpoint.
        concurrency: Maximum number of requests under way at a time.
        max_attempts: Maximum number of requests for a row.
        requests_per_minute: Maximum number of requests per minute.
        tokens_per_minute: Maximum number of tokens per minute, read and written.
    """

    def __init__(
        self,
        client: ChatClient,
        *,
        concurrency: int,
        max_attempts: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
    ) -> None:
        self._client = client
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="llm")
        self._max_attempts = max_attempts
        self._requests = None if requests_per_minute is None else RateLimit(requests_per_minute)
        self._tokens = None if tokens_per_minute is None else RateLimit(tokens_per_minute)
        self._stop = threading.Event()

    def ask(self, payloads: Sequence[Mapping[str, Any] | None]) -> list[RowOutcome | None]:
        """Return the outcome of each row, in order; None for rows without a request.

        Raises:
            StageError: The endpoint will answer nothing: a wrong key, address or model.
        """
        self._stop.clear()
        futures = [None if payload is None else self._pool.submit(self._ask_one, payload) for payload in payloads]
        try:
            return [None if future is None else future.result() for future in futures]
        except BaseException:
            self._stop.set()  # running requests stop at their next wait; waiting ones are not started
            for future in futures:
                if future is not None:
                    future.cancel()
            raise

    def close(self) -> None:
        """End the threads and close their connections."""
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._client.close()

    def _ask_one(self, payload: Mapping[str, Any]) -> RowOutcome:
        attempt = 0
        while True:
            attempt += 1
            reserved = self._take_turn(payload)
            try:
                answer = self._client.complete(payload)
            except RequestRefused as refused:
                return RowOutcome(RowFailure(str(refused), "RequestRefused"), attempt)
            except TransientFailure as failure:
                if attempt >= self._max_attempts:
                    message = f"{failure} (after {attempt} attempts)"
                    return RowOutcome(RowFailure(message, "EndpointUnavailable"), attempt)
                self._wait(delay_s(attempt, asked_s=failure.retry_after_s, place=random.random()))  # noqa: S311 - jitter
            else:
                if self._tokens is not None:
                    self._tokens.give_back(reserved - answer.prompt_tokens - answer.completion_tokens)
                return RowOutcome(answer, attempt)

    def _take_turn(self, payload: Mapping[str, Any]) -> float:
        """Wait until the limits allow a request; return how many tokens it was taken to cost."""
        now_s = time.monotonic()
        wait_s, tokens = 0.0, 0.0
        if self._requests is not None:
            wait_s = self._requests.reserve(1, now_s=now_s)
        if self._tokens is not None:
            chars = sum(len(message["content"]) for message in payload["messages"])
            tokens = chars / _CHARS_PER_TOKEN + float(payload.get("max_tokens") or 0)
            wait_s = max(wait_s, self._tokens.reserve(tokens, now_s=now_s))
        self._wait(wait_s)
        return tokens

    def _wait(self, seconds: float) -> None:
        if seconds > 0 and self._stop.wait(seconds):
            raise StageError("the request was given up because the stage ends")
