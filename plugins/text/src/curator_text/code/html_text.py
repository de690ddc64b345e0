"""How much of an HTML page is text, by Python's own parser.

Text is the result of ``BeautifulSoup(page, "html.parser").get_text()`` without scripts and styles, as NeMo Curator
measures it; no tree is built for it.
"""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from html.entities import html5
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["text_fraction", "text_length"]

_REMOVED = frozenset({"script", "style"})
_HIDDEN = _REMOVED | {"template", "rp", "rt"}
"""Beautiful Soup also leaves out templates and the readings of ruby characters, but not CDATA in them."""
_KEEPS_WHITE_SPACE = frozenset({"pre", "textarea"})
_VOID = frozenset(
    {
        *(
            "area",
            "base",
            "basefont",
            "bgsound",
            "br",
            "col",
            "command",
            "embed",
            "frame",
            "hr",
            "image",
            "img",
            "input",
        ),
        *("isindex", "keygen", "link", "menuitem", "meta", "nextid", "param", "source", "spacer", "track", "wbr"),
    }
)
"""Elements without an end tag, by Beautiful Soup's list."""
_SECTION_NAME = re.compile(r"[a-zA-Z][-_.a-zA-Z0-9]*")
_MAX_UNCLOSED_TAGS = 100
_WHITE_SPACE = " \n\t\f\r"


def text_fraction(page: str, min_chars: int) -> float:
    """Return the fraction of a page's characters that is text; zero where there are less than ``min_chars`` of it.

    >>> text_fraction("<p>Text</p><script>code</script>", min_chars=1)
    0.125

    Args:
        page: HTML source.
        min_chars: Minimum number of characters of text that count as such.
    """
    length = text_length(page) if page else 0
    return 0.0 if length < min_chars or not page else length / len(page)


def text_length(page: str) -> int:
    """Return the number of characters of a page's text; zero for a page that cannot be parsed.

    >>> text_length("<p>a &amp; b</p>  <p>c</p>")
    7
    """
    counter = _TextCounter()
    # Behind the last > no tag can end. The parser looks for that end from every <, which takes the square of the time.
    end = page.rfind(">") + 1
    rest = page[end:] if page.count("<", end) > _MAX_UNCLOSED_TAGS else ""
    try:
        counter.feed(page[: len(page) - len(rest)])
        counter.close()
        counter.handle_data(rest)
    except AssertionError:  # what html.parser raises on some malformed declarations
        return 0
    counter.end_run()
    return counter.length


class _TextCounter(HTMLParser):
    """Adds up runs of text between tags. A run of nothing but white space is one character."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.length = 0
        self._run: list[str] = []
        self._unclosed: set[str] = set()
        self._open: list[str] = []
        self._times_open: Counter[str] = Counter()
        self._needless: Counter[str] = Counter()  # end tags to come of elements that have none, which are overlooked

    def close(self) -> None:
        self._unclosed.clear()
        super().close()

    def parse_comment(self, i: int, report: bool = True) -> int:  # noqa: FBT001, FBT002 - the parser's signature
        return self._once("<!--", super().parse_comment, i, report)

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: FBT001, FBT002 - as above
        name = _SECTION_NAME.match(self.rawdata, i + len("<!["))  # which decides the end that is searched for
        return self._once(name.group().lower() if name else "", super().parse_marked_section, i, report)

    def _once(self, kind: str, parse: Callable[..., int], i: int, report: bool) -> int:  # noqa: FBT001 - as above
        """Parse, unless one of the kind that began before had no end: then this has none, and need not be searched."""
        if kind in self._unclosed:
            return -1
        end = parse(i, report)
        if end < 0:
            self._unclosed.add(kind)
        return end

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the parser's signature
        self.end_run()
        if tag in _VOID:
            self._needless[tag] += 1
        else:
            self._open.append(tag)
            self._times_open[tag] += 1

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the parser's signature
        self.end_run()

    def handle_endtag(self, tag: str) -> None:
        if self._needless[tag]:
            self._needless[tag] -= 1
            return
        self.end_run()
        closes = self._times_open[tag] > 0
        while closes:
            closed = self._open.pop()
            self._times_open[closed] -= 1
            closes = closed != tag

    def handle_data(self, data: str) -> None:
        self._run.append(data)

    def handle_charref(self, name: str) -> None:
        self._run.append(unescape(f"&#{name};") or "\ufffd")

    def handle_entityref(self, name: str) -> None:
        known = html5.get(f"{name};")
        self._run.append(f"&{name}" if known is None else known)

    def handle_comment(self, data: str) -> None:  # noqa: ARG002 - the parser's signature
        self.end_run()

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002 - the parser's signature
        self.end_run()

    def handle_pi(self, data: str) -> None:  # noqa: ARG002 - the parser's signature
        self.end_run()

    def unknown_decl(self, data: str) -> None:
        self.end_run()
        if data.upper().startswith("CDATA["):
            self._run.append(data[len("CDATA[") :])
            self.end_run(_REMOVED)

    def end_run(self, hidden: frozenset[str] = _HIDDEN) -> None:
        """Count the run of text that ends here, unless it is in one of some elements."""
        run = "".join(self._run)
        self._run.clear()
        if not run or any(self._times_open[tag] for tag in hidden):
            return
        keeps = any(self._times_open[tag] for tag in _KEEPS_WHITE_SPACE)
        self.length += len(run) if keeps or run.strip(_WHITE_SPACE) else 1
