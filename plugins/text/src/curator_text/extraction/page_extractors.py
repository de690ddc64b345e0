"""The libraries that find the text of a web page, behind one call: page in, text out."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from curator_core.sdk import ConfigError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Backend", "ExtractionSettings", "check_packages", "make_extractor"]

Backend = Literal["resiliparse", "trafilatura", "justext"]

# Elements that browsers separate from their neighbours, though nothing in the text shows it.
_SHOWN_APART = "td|th|caption|summary|legend|option|optgroup|button|textarea|dialog|menu|search"
# White space before a tag keeps them apart already. The two letters that each name begins with are for speed: most tags
# are none of these.
_APART = re.compile(rf"<(?<!\s<)(?=/?[bcdlmost][aepuidh])(?=/?(?:{_SHOWN_APART})[\s/>])", re.IGNORECASE)
# Elements that resiliparse leaves out even where all text is wanted.
_LEFT_OUT = ("button", "label", "select", "optgroup", "option", "textarea")
_HAS_LEFT_OUT = re.compile(rf"<(?:{'|'.join(_LEFT_OUT)}|title)[\s/>]", re.IGNORECASE)
_EXTRAS: dict[Backend, str] = {"resiliparse": "html", "trafilatura": "trafilatura", "justext": "justext"}


@dataclass(frozen=True)
class ExtractionSettings:
    """How pages become text; the parameters of :class:`curator_text.ExtractHtml`."""

    backend: Backend = "resiliparse"
    main_content: bool = True
    preserve_formatting: bool = True
    links: bool = False
    alt_texts: bool = False
    comments: bool = False
    stop_words: str = "English"
    title: bool = False


def check_packages(settings: ExtractionSettings, stage_name: str) -> None:
    """Check that the library is installed.

    Raises:
        MissingPackageError: It is not.
    """
    for package in dict.fromkeys(("resiliparse", settings.backend)):  # the former also detects charsets
        if find_spec(package) is None:
            extra = _EXTRAS[package]
            raise MissingPackageError(
                f"{stage_name} with backend {settings.backend}", package=package, pip=f"'curator-text[{extra}]'"
            )


def make_extractor(settings: ExtractionSettings) -> Callable[[str], str]:
    """Return the function that turns a page into text; imports its library."""
    makers = {"resiliparse": _resiliparse, "trafilatura": _trafilatura, "justext": _justext}
    extract = makers[settings.backend](settings)
    return lambda page: extract(_APART.sub(" <", page))


def _resiliparse(settings: ExtractionSettings) -> Callable[[str], str]:
    from resiliparse.extract.html2text import extract_plain_text

    options: dict[str, Any] = {
        "main_content": settings.main_content,
        "preserve_formatting": settings.preserve_formatting,
        "links": settings.links,
        "alt_texts": settings.alt_texts,
        "comments": settings.comments,
        "noscript": not settings.main_content,
    }

    def extract(page: str) -> str:
        if not page:
            return ""  # the parser would fail
        page = page.replace("\0", "\ufffd")  # the page would end there
        is_partial = not settings.main_content and _HAS_LEFT_OUT.search(page)
        text: str = extract_plain_text(_with_all_text(page, settings) if is_partial else page, **options)
        return text

    return extract


def _with_all_text(page: str, settings: ExtractionSettings) -> Any:
    """Return a page whose form fields, and the title where that is wanted, are ordinary text."""
    from resiliparse.parse.html import HTMLTree

    tree: Any = HTMLTree.parse(page)  # its types say that everything may be missing
    if tree.body is None:
        return tree
    for field in tree.body.query_selector_all(", ".join(_LEFT_OUT)):
        plain = tree.create_element("span")
        while field.first_child is not None:
            plain.append_child(field.first_child)
        field.parent.replace_child(plain, field)
    for title in tree.document.query_selector_all("head > title") if settings.title else ():
        heading = tree.create_element("h1")
        heading.text = title.text
        tree.body.insert_before(heading, tree.body.first_child)
    return tree


def _trafilatura(settings: ExtractionSettings) -> Callable[[str], str]:
    import trafilatura

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

    def extract(page: str) -> str:
        if not settings.main_content:
            return str(trafilatura.html2txt(page) or "")
        text = trafilatura.extract(
            page,
            favor_precision=True,
            include_comments=settings.comments,
            include_links=settings.links,
            include_images=settings.alt_texts,
            deduplicate=True,
        )
        text = str(text or "")
        return text if settings.preserve_formatting else " ".join(text.split())

    return extract


def _justext(settings: ExtractionSettings) -> Callable[[str], str]:
    import justext

    try:
        words = justext.get_stoplist(settings.stop_words)
    except ValueError as error:
        known = ", ".join(sorted(justext.get_stoplists()))
        raise ConfigError(
            f"justext has no stop words for {settings.stop_words!r}", fix=f"choose from {known}"
        ) from error
    separator = "\n" if settings.preserve_formatting else " "

    def extract(page: str) -> str:
        if not page.strip():
            return ""
        paragraphs = justext.justext(page, words)
        wanted = (each.text for each in paragraphs if not (settings.main_content and each.is_boilerplate))
        return separator.join(wanted)

    return extract
