"""The process that extracts text: reads pages from its input, writes text to its output, dies on a page that hangs.

Extractors are native code that holds the GIL, so no Python in their process can stop one that hangs. The kernel can: a
timer of CPU time is set before each page, and its signal ends the process. Its position is a number in shared
memory, so the parent knows which page to blame. Messages are lengths and bytes: nothing that comes from this process,
which reads hostile pages, is unpickled. It imports neither Arrow nor numpy, so that it starts fast and stays small.
"""

from __future__ import annotations

import array
import json
import mmap
import os
import signal
import struct
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["HEAD", "IDLE", "LENGTH", "main", "read_message", "write_message"]

LENGTH = struct.Struct("<q")
HEAD = struct.Struct("<?q")
IDLE = -1
"""In shared memory while no page is worked on."""
WALL_CLOCK_FACTOR = 10
"""Limit of wall time, as a multiple of the limit of CPU time: a process that waits uses no CPU time."""


def main() -> None:
    """Serve requests until the input ends. Arguments: sys.path, settings as JSON, file number of the shared memory."""
    parameters = json.loads(sys.argv[2])
    progress = mmap.mmap(int(sys.argv[3]), LENGTH.size)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not get between the messages
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF, signal.SIGALRM})
    try:
        extract = _load(parameters)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent tells the user
        write_message(sink, f"{type(error).__name__}: {error}".encode())
        return
    write_message(sink, b"")
    while (request := read_message(source)) is not None:
        write_message(sink, _answer(request, extract, progress, parameters["timeout_s"]))


def read_message(stream: BinaryIO) -> bytes | None:
    """Return the next message; None at the end of the stream, be it in the middle of one."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    body = stream.read(size)
    return body if len(body) == size else None


def write_message(stream: BinaryIO, *parts: Any) -> None:
    """Write a message of some buffers."""
    stream.write(LENGTH.pack(sum(len(part) for part in parts)))
    stream.writelines(parts)
    stream.flush()


def _load(parameters: dict[str, Any]) -> Callable[[str], str]:
    from curator_text.extraction import charset  # noqa: F401 - before the limit on memory is set
    from curator_text.extraction.page_extractors import ExtractionSettings, make_extractor

    extract = make_extractor(ExtractionSettings(**parameters["settings"]))
    extract("<html><p>load what is loaded late</html>")
    _limit_memory(parameters["max_memory_bytes"])
    return extract


def _limit_memory(size: int) -> None:
    """Let allocations beyond ``size`` fail: markup of a megabyte can ask for a tree of a hundred gigabytes."""
    import resource

    with suppress(OSError, ValueError):  # no /proc, or a lower limit already
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - a file of the kernel
            used = int(file.read().split()[0]) * mmap.PAGESIZE
        resource.setrlimit(resource.RLIMIT_AS, (used + size, used + size))


def _answer(request: bytes, extract: Callable[[str], str], progress: mmap.mmap, timeout_s: float) -> bytes:
    """Answer with the length of each text, or -1; then the texts; then what was wrong, by number, as JSON."""
    from curator_text.extraction.charset import decode_html

    lengths = array.array("q")
    problems: dict[int, str] = {}
    texts: list[bytes] = []
    for index, (page, is_text) in enumerate(_pages(request)):
        _set_timers(timeout_s)
        progress[:] = LENGTH.pack(index)
        try:
            text = extract(page.decode() if is_text else decode_html(page)).encode("utf-8", "replace")
        except Exception as error:  # noqa: BLE001 - isolation border: whatever a page makes a parser raise
            problems[index] = f"{type(error).__name__}: {error}"
            lengths.append(-1)
            continue
        texts.append(text)
        lengths.append(len(text))
    _set_timers(0)
    progress[:] = LENGTH.pack(IDLE)
    return b"".join([lengths.tobytes(), *texts, json.dumps(problems).encode()])


def _pages(request: bytes) -> Iterator[tuple[bytes, bool]]:
    """Take a request apart: whether the pages are text, how many there are, the length of each, the pages."""
    is_text, count = HEAD.unpack_from(request)
    lengths = array.array("q")
    start = HEAD.size + count * lengths.itemsize
    lengths.frombytes(request[HEAD.size : start])
    for length in lengths:
        yield request[start : start + length], is_text
        start += length


def _set_timers(timeout_s: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, timeout_s)
    signal.setitimer(signal.ITIMER_REAL, timeout_s * WALL_CLOCK_FACTOR)
