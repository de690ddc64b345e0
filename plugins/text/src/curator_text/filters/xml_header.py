"""Drop files that are XML, whatever their name says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import Filter, Verdict
from curator_text.filters.share import check_positive

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch

__all__ = ["XmlHeader"]

_HEADER = "<?xml version="


@dataclass
class XmlHeader(Filter):
    """Keep files without ``<?xml version=`` among their first ``prefix_chars`` characters.

    The score is one for a file with it, else zero. This is NeMo Curator's ``XMLHeaderFilter``, after StarCoder (Li et
    al. 2023, section 3.1).

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ['<?xml version="1.0"?><a/>', "a = 1"]})
    >>> XmlHeader().process(batch).data["text"].to_pylist()
    ['a = 1']

    Args:
        prefix_chars: How many characters to look at.
        text_field: Column with the source code.
    """

    prefix_chars: int = 100
    text_field: str = "text"

    name = "text.xml_header"

    def __post_init__(self) -> None:
        check_positive(self.name, prefix_chars=self.prefix_chars)

    def judge(self, batch: TableBatch) -> Verdict:
        start = batch.text(self.text_field).str.slice(0, self.prefix_chars)
        is_xml = start.str.contains(_HEADER, literal=True)
        return Verdict(is_xml.cast(int), {"xml": is_xml})
