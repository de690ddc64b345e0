"""Extract text in processes that may hang or crash: the page that is to blame is found, the others come out."""

from __future__ import annotations

import json
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curator_core.sdk import StageError
from curator_text.extraction.extractor_process import HEAD, IDLE, LENGTH, read_message, write_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_text.extraction.page_extractors import ExtractionSettings

__all__ = ["Blame", "GuardedExtractor"]

_START = (
    "import os, sys; sys.path[:] = sys.argv[1].split(os.pathsep); "
    "from curator_text.extraction.extractor_process import main; main()"
)
_REQUEST_BYTES = 2**20
"""Pages sent at a time: at most these are processed twice because of a page that ends the process."""
_MAX_IDLE_DEATHS = 3


@dataclass(frozen=True, slots=True)
class Blame:
    """The failure to extract the text of a page.

    Args:
        message: Description of the failure.
        error_type: ``ExtractionTimeout``, ``ExtractorCrashed`` or ``ExtractionFailed``.
    """

    message: str
    error_type: str


class GuardedExtractor:
    """Processes that extract text, one for each thread that asks at a time.

    Args:
        settings: How pages become text.
        timeout_s: Maximum number of CPU seconds for one page.
        max_memory_bytes: Maximum memory that a process may take for its pages.
    """

    def __init__(self, settings: ExtractionSettings, *, timeout_s: float, max_memory_bytes: int) -> None:
        self._parameters = {
            "settings": asdict(settings),
            "timeout_s": timeout_s,
            "max_memory_bytes": max_memory_bytes,
        }
        self._timeout_s = timeout_s
        self._idle: list[_Process] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _end_all, self._idle)

    def close(self) -> None:
        """End the processes; the next call starts new ones."""
        with self._lock:
            _end_all(self._idle)

    def start(self) -> None:
        """Start a process, so that a library that cannot be loaded is found out.

        Raises:
            StageError: It cannot be loaded.
        """
        with self._borrowed():
            pass

    def extract(self, pages: pa.Array) -> tuple[pa.Array, dict[int, Blame]]:
        """Return the text of each page, and the failures by page number.

        Args:
            pages: Large text, or large binary whose charset is to be found; no nulls.
        """
        blames: dict[int, Blame] = {}
        texts: dict[int, Any] = {}
        waiting = _cut(pages)[::-1]
        deaths = 0
        while waiting:
            start, stop = waiting.pop()
            if start == stop:
                continue
            with self._borrowed() as process:
                answer = process.ask(pages[start:stop])
                if answer is None:
                    guilty, why = process.last_words(self._timeout_s)
            if answer is not None:
                texts[start], problems = answer
                for index, problem in problems.items():
                    blames[start + int(index)] = Blame(f"the page cannot be extracted: {problem}", "ExtractionFailed")
            elif guilty == IDLE:
                deaths += 1
                if deaths > _MAX_IDLE_DEATHS:
                    raise StageError(f"the process that extracts text dies again and again: {why.message}")
                waiting.append((start, stop))
            else:
                blames[start + guilty] = why
                texts[start + guilty] = pa.nulls(1, pa.large_string())
                waiting += [(start + guilty + 1, stop), (start, start + guilty)]
        parts = [texts[start] for start in sorted(texts)]
        return (pa.concat_arrays(parts) if parts else pa.array([], pa.large_string())), blames

    @contextmanager
    def _borrowed(self) -> Iterator[_Process]:
        with self._lock:
            process = self._idle.pop() if self._idle else None
        process = process or _Process(self._parameters)
        try:
            yield process
        except BaseException:
            process.end()
            raise
        if process.is_usable:
            with self._lock:
                self._idle.append(process)
        else:
            process.end()


class _Process:
    def __init__(self, parameters: dict[str, Any]) -> None:
        with tempfile.TemporaryFile() as shared:
            shared.write(LENGTH.pack(IDLE))
            shared.flush()
            self._progress = mmap.mmap(shared.fileno(), LENGTH.size)
            path = os.pathsep.join(each or os.getcwd() for each in sys.path)  # noqa: PTH109 - as Python means ""
            arguments = [sys.executable, "-I", "-c", _START, path, json.dumps(parameters), str(shared.fileno())]
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and our own code
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=[shared.fileno()],
                start_new_session=True,  # Ctrl-C is for the run, which ends its processes itself
            )
        self.is_usable = True
        complaint = read_message(self._process.stdout)  # type: ignore[arg-type]
        if complaint != b"":
            self.end()
            reason = complaint.decode("utf-8", "replace") if complaint else "it died while starting"
            raise StageError(f"the process that extracts text cannot be started: {reason}")

    def ask(self, pages: pa.Array) -> tuple[pa.Array, dict[str, str]] | None:
        """Return texts, and failures by page number; None if the process has died."""
        self._progress[:] = LENGTH.pack(IDLE)
        answer = None
        with suppress(BrokenPipeError):
            write_message(self._process.stdin, *_request(pages))  # type: ignore[arg-type]
            answer = read_message(self._process.stdout)  # type: ignore[arg-type]
        if answer is None:
            self.is_usable = False
            return None
        lengths = np.maximum(np.frombuffer(answer, "<i8", len(pages)), 0)
        offsets = np.zeros(len(pages) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        body = memoryview(answer)[lengths.nbytes :]
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(body[: offsets[-1]])]
        texts = pa.Array.from_buffers(pa.large_string(), len(pages), buffers)
        texts.validate(full=True)
        problems: dict[str, str] = json.loads(bytes(body[offsets[-1] :]))
        return texts, problems

    def last_words(self, timeout_s: float) -> tuple[int, Blame]:
        """Return the page at which a process died (or :data:`IDLE`), and the cause."""
        (guilty,) = LENGTH.unpack(self._progress[:])
        code = self._process.wait()
        if -code in (signal.SIGPROF, signal.SIGALRM):
            return guilty, Blame(
                f"extraction took more than {timeout_s:g} s; raise page_timeout_s", "ExtractionTimeout"
            )
        try:
            what = f"signal {signal.Signals(-code).name}"
        except ValueError:
            what = f"exit code {code}"
        return guilty, Blame(f"the page ended the process that extracts text ({what})", "ExtractorCrashed")

    def end(self) -> None:
        """End the process in any state."""
        self.is_usable = False
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]
        self._progress.close()


def _end_all(processes: list[_Process]) -> None:
    while processes:
        processes.pop().end()


def _request(pages: pa.Array) -> tuple[Any, ...]:
    """Return the buffers of a request, without copying the pages."""
    _, offsets, data = pages.buffers()
    edges = np.frombuffer(offsets, np.int64)[pages.offset : pages.offset + len(pages) + 1]
    content = memoryview(data or b"")[edges[0] : edges[-1]]
    is_text = pa.types.is_large_string(pages.type)
    return HEAD.pack(is_text, len(pages)), np.diff(edges).astype("<i8").tobytes(), content


def _cut(pages: pa.Array) -> list[tuple[int, int]]:
    """Cut pages into requests of about ``_REQUEST_BYTES``."""
    if not len(pages):
        return []
    before = np.cumsum(pc.binary_length(pages).to_numpy(zero_copy_only=False), dtype=np.int64)
    request = (before - 1) // _REQUEST_BYTES
    edges = [0, *(np.flatnonzero(np.diff(request)) + 1).tolist(), len(pages)]
    return list(pairwise(edges))
