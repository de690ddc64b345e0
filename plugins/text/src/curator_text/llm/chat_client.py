"""Ask an OpenAI-compatible endpoint for chat completions, over connections that stay open."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import urllib.parse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.sdk import MASK, ConfigError, StageError, redact
from curator_text.llm.retry_delays import retry_after_s

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ChatAnswer", "ChatClient", "RequestRefused", "TransientFailure"]

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_ABOUT_THE_CALLER = {
    401: "the endpoint wants a valid key: set api_key_env to the name of the variable that holds it",
    403: "the key may not use this model",
    404: "check base_url (it usually ends in /v1) and model",
    405: "check base_url (it usually ends in /v1)",
}
_MAX_ANSWER_BYTES = 64 << 20
_SHOWN = 300


class TransientFailure(Exception):  # noqa: N818 - it is no error until it keeps happening
    """A request failed in a way that may pass.

    Args:
        message: The description.
        retry_after_s: How long the server asks to wait.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class RequestRefused(Exception):  # noqa: N818 - the row is to blame, not the program
    """The endpoint will not answer this request, however often it is asked."""


@dataclass(frozen=True)
class ChatAnswer:
    """The answer of a model.

    Args:
        text: The answer.
        prompt_tokens: Tokens read, as the endpoint counts them.
        completion_tokens: Tokens written, as the endpoint counts them.
        is_cut: Whether the answer ended at ``max_tokens``.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    is_cut: bool


class ChatClient:
    """A client for one endpoint; every thread has a connection of its own.

    Args:
        base_url: Address up to and including the version, such as ``http://localhost:8000/v1``.
        api_key: Sent as bearer token, unless None.
        timeout_s: Maximum number of seconds of silence before a request counts as failed.
    """

    def __init__(self, base_url: str, *, api_key: str | None, timeout_s: float) -> None:
        parts = urllib.parse.urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"base_url {base_url!r} is no http address", fix="e.g. http://localhost:8000/v1")
        self._parts = parts
        self._path = parts.path.rstrip("/") + "/chat/completions"
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._local = threading.local()
        self._open: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "curator"}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"

    def complete(self, payload: Mapping[str, Any]) -> ChatAnswer:
        """Send one request.

        Raises:
            TransientFailure: It may work later: too many requests, trouble in the server or the network.
            RequestRefused: It will never work for this input.
            StageError: It will never work for any input.
        """
        body = json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        try:
            status, retry_after, answer = self._send(body)
        except (OSError, http.client.HTTPException) as error:  # includes time-outs
            self._close_mine()
            raise TransientFailure(self._clean(f"{type(error).__name__}: {error}")) from error
        if status == http.client.OK:
            return self._read(answer)
        said = self._clean(f"HTTP {status}: {answer[:_SHOWN].decode('utf-8', 'replace')}")
        if status in _TRANSIENT:
            raise TransientFailure(said, retry_after_s=retry_after_s(retry_after))
        if status in _ABOUT_THE_CALLER:
            raise StageError(f"{self._parts.hostname} refused the request: {said}", fix=_ABOUT_THE_CALLER[status])
        raise RequestRefused(said)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            connections, self._open = self._open, []
        for connection in connections:
            connection.close()

    def _send(self, body: bytes) -> tuple[int, str | None, bytes]:
        connection, is_fresh = self._connection()
        try:
            return self._exchange(connection, body)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            if is_fresh:
                raise
        # A server may close a connection that was idle; that says nothing about the request.
        self._close_mine()
        return self._exchange(self._connection()[0], body)

    def _exchange(self, connection: http.client.HTTPConnection, body: bytes) -> tuple[int, str | None, bytes]:
        connection.request("POST", self._path, body=body, headers=self._headers)
        response = connection.getresponse()
        answer = response.read(_MAX_ANSWER_BYTES + 1)
        if len(answer) > _MAX_ANSWER_BYTES:
            self._close_mine()
            raise RequestRefused(f"the answer is larger than {_MAX_ANSWER_BYTES >> 20} MB")
        return response.status, response.getheader("Retry-After"), answer

    def _connection(self) -> tuple[http.client.HTTPConnection, bool]:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is not None:
            return connection, False
        host, port = str(self._parts.hostname), self._parts.port
        if self._parts.scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        self._local.connection = connection
        with self._lock:
            self._open.append(connection)
        return connection, True

    def _close_mine(self) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None
            with self._lock:
                self._open = [each for each in self._open if each is not connection]

    def _read(self, answer: bytes) -> ChatAnswer:
        try:
            plain = json.loads(answer)
            choice = plain["choices"][0]
            text = choice["message"].get("content")
            usage = plain.get("usage") or {}
            counts = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
            reason = choice.get("finish_reason")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            shown = self._clean(answer[:_SHOWN].decode("utf-8", "replace"))
            raise TransientFailure(f"the answer is not that of a chat completion: {shown!r}") from error
        if not isinstance(text, str):
            raise RequestRefused(f"the answer has no text (finish_reason {reason!r})")
        return ChatAnswer(text, *counts, is_cut=reason == "length")

    def _clean(self, text: str) -> str:
        if self._api_key:
            text = text.replace(self._api_key, MASK)
        return redact(text)
