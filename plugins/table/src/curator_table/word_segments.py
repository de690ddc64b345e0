"""Words of scripts that are written without spaces: Chinese, Japanese and Thai.

Runs of such a script get spaces between their words, so that splitting at whitespace finds them. Other text stays as it
is, except for a space between it and a run. ``docs/text.md`` compares the segmenters.
"""

from __future__ import annotations

import re
import threading
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from curator_core.sdk import MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SEGMENTED", "SpacedWords", "check_segmenter", "separate_words"]

SpacedWords = Literal["whitespace", "chinese", "japanese", "thai"]
"""How text is split into words: at whitespace, of which a script without spaces gets some first."""

_MAX_RUN = 1000
"""Characters passed to a segmenter at a time: more than in any sentence, but a bound on memory for hostile text."""
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3006\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_RUNS = {
    name: re.compile(f"[{characters}]{{1,{_MAX_RUN}}}")
    for name, characters in {"chinese": _HAN, "japanese": _HAN + _KANA, "thai": _THAI}.items()
}
_PACKAGES = {
    "chinese": {"rjieba": "rjieba"},
    "japanese": {"fugashi": "fugashi", "unidic_lite": "unidic-lite"},
    "thai": {"nlpo3": "nlpo3", "pythainlp": "pythainlp"},
}
SEGMENTED = frozenset(_RUNS)
"""The ways to split text that need a segmenter; each is an extra of curator-dedup, too."""


def check_segmenter(what: str, words: str) -> None:
    """Check that the packages that a way to split text needs are installed.

    Args:
        what: Name of the caller in the error.
        words: How.

    Raises:
        MissingPackageError: One is not.
    """
    for module, package in _PACKAGES.get(words, {}).items():
        if find_spec(module) is None:
            raise MissingPackageError(f"{what} with words: {words}", package=package, pip=f"'curator-table[{words}]'")


def separate_words(text: str, words: str) -> str:
    """Return a text with single spaces between the words of a script that has none.

    >>> separate_words("plain text", "whitespace")
    'plain text'

    Args:
        text: The text.
        words: One of :data:`SEGMENTED`; any other changes nothing.

    Raises:
        MissingPackageError: A package is not installed.
    """
    runs = _RUNS.get(words)
    if runs is None:
        return text
    segment = _segmenter(words)

    def spaced(found: re.Match[str]) -> str:
        begin, end = found.span()
        before = "" if begin == 0 or text[begin - 1].isspace() or runs.match(text[begin - 1]) else " "
        after = "" if end == len(text) or text[end].isspace() else " "
        return f"{before}{segment(found[0])}{after}"

    return runs.sub(spaced, text)


@cache
def _segmenter(words: str) -> Callable[[str], str]:
    """Return the function that puts spaces into a run of a script."""
    check_segmenter("splitting text", words)
    return {"chinese": _chinese, "japanese": _japanese, "thai": _thai}[words]()


def _chinese() -> Callable[[str], str]:
    import rjieba

    return lambda run: " ".join(rjieba.cut(run))


def _japanese() -> Callable[[str], str]:
    import fugashi
    import unidic_lite

    taggers = threading.local()  # one must not be used by two threads

    def segment(run: str) -> str:
        if not hasattr(taggers, "one"):
            taggers.one = fugashi.Tagger(f"-Owakati -d '{unidic_lite.DICDIR}'")
        spaced: str = taggers.one.parse(run)
        return spaced.strip()

    return segment


def _thai() -> Callable[[str], str]:
    import nlpo3

    # Importing PyThaiNLP, whose list of words is needed and nothing else, makes a folder in the user's home.
    folders = getattr(find_spec("pythainlp"), "submodule_search_locations", None)
    assert folders, "it was found before"
    nlpo3.load_dict(f"{folders[0]}/corpus/words_th.txt", "curator")
    return lambda run: " ".join(nlpo3.segment(run, "curator"))
