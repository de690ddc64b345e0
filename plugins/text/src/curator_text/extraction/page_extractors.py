"""The libraries that find the text of a web page, behind one call: page in, text out."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from curator_core.errors import ConfigError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Backend", "ExtractionSettings", "check_packages", "make_extractor"]

Backend = Literal["resiliparse", "trafilatura", "justext"]

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
    return makers[settings.backend](settings)


def _resiliparse(settings: ExtractionSettings) -> Callable[[str], str]:
    from resiliparse.extract.html2text import extract_plain_text

    options = {
        "main_content": settings.main_content,
        "preserve_formatting": settings.preserve_formatting,
        "links": settings.links,
        "alt_texts": settings.alt_texts,
        "comments": settings.comments,
    }

    def extract(page: str) -> str:
        # An empty page makes the parser fail. Feeding it a string with NUL would end the page there.
        text: str = extract_plain_text(page.replace("\0", "\ufffd"), **options) if page else ""
        return text

    return extract


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
