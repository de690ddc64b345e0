"""Decode web pages: by their byte order mark, their declaration, or their content."""

from __future__ import annotations

import codecs
import re

__all__ = ["declared_charset", "decode_html"]

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META_BYTES = 1024
"""How far browsers look for a declaration (HTML standard, "prescan a byte stream to determine its encoding")."""
_META = re.compile(
    rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*(?:[\"']\s*)?([\w.:-]{1,40})"
    rb"|<\?xml[^>]{0,200}?\bencoding\s*=\s*[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
_SNIFF_BYTES = 2**15


def decode_html(data: bytes, declared: str | None = None) -> str:
    r"""Return the text of a page; never fails, bytes that cannot be decoded become U+FFFD.

    A byte order mark wins, then the declared charset, then one that the page itself names, where the bytes are in it;
    then UTF-8, and last a guess from the bytes.

    >>> decode_html("<p>Größe".encode("latin-1"), "iso-8859-1"), decode_html(b"<meta charset=koi8-r>\xc4\xc1")
    ('<p>Größe', '<meta charset=koi8-r>да')

    Args:
        data: The page.
        declared: Charset in the HTTP header.
    """
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, "replace")
    own = declared_charset(data)
    # A page whose declaration can be read as ASCII is not in UTF-16, whatever it says (HTML standard, same section).
    for name in (declared, None if own and own.lower().startswith("utf-16") else own, "utf-8"):
        found = _python_name(name)
        if found is not None:
            try:
                return data.decode(found)
            except UnicodeDecodeError:
                continue
    return data.decode(_python_name(_sniffed(data)) or "utf-8", "replace")


def declared_charset(data: bytes) -> str | None:
    """Return the charset that a page names in its first bytes.

    >>> declared_charset(b'<html><meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">')
    'Shift_JIS'
    """
    found = _META.search(data, 0, _META_BYTES)
    return (found[1] or found[2]).decode("ascii", "replace") if found else None


def _sniffed(data: bytes) -> str | None:
    from resiliparse.parse.encoding import detect_encoding

    detected: str | None = detect_encoding(data, max_len=_SNIFF_BYTES)
    return detected


def _python_name(label: str | None) -> str | None:
    """Return Python's codec for a label of the web, which calls Windows code pages by the names of ISO standards."""
    if not label:
        return None
    from resiliparse.parse.encoding import map_encoding_to_html5

    try:
        name = map_encoding_to_html5(label, fallback_utf8=False)
        found = codecs.lookup(name) if name else None
    except (LookupError, ValueError):
        return None
    return found.name if found is not None and getattr(found, "_is_text_encoding", True) else None
