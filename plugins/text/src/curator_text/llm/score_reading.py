"""Find the score in the answer of a judge."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from curator_core.sdk import ConfigError

__all__ = ["ScoreReader"]

_NUMBER = re.compile(r"(?<![\w.])([-+]?\d+(?:\.\d+)?)")
_MAX_BRACES = 1000
"""How many braces of an answer are tried: each may be read to the end, and an answer can consist of them."""


class ScoreReader:
    """Reads a number from an answer.

    >>> ScoreReader().read("Score: 4, because it is clear.")
    4.0
    >>> ScoreReader(key="score").read('Sure! {"why": "clear", "score": "3"}')
    3.0

    Args:
        pattern: Regular expression whose first group is the score; the first number in the answer unless given.
        key: Key of the score in a JSON object in the answer.
        score_range: Lowest and highest score that can be meant.

    Raises:
        ConfigError: The pattern is wrong or has no group.
    """

    def __init__(
        self, *, pattern: str | None = None, key: str | None = None, score_range: tuple[float, float] | None = None
    ) -> None:
        try:
            self._pattern = _NUMBER if pattern is None else re.compile(pattern)
        except re.error as error:
            raise ConfigError(f"score_pattern {pattern!r} is no regular expression: {error}") from error
        if not self._pattern.groups:
            raise ConfigError(f"score_pattern {pattern!r} has no group", fix=r"e.g. score:\s*(\d+)")
        self._key = key
        self._range = score_range

    def read(self, answer: str) -> float:
        """Return the score.

        Raises:
            ValueError: There is none, or it is out of range.
        """
        found = self._in_json(answer) if self._key is not None else self._in_text(answer)
        try:
            score = float(found)
        except (TypeError, ValueError):
            raise ValueError(f"{found!r} is not a number") from None
        if self._range is not None and not self._range[0] <= score <= self._range[1]:
            raise ValueError(f"the score {score:g} is not between {self._range[0]:g} and {self._range[1]:g}")
        return score

    def _in_text(self, answer: str) -> Any:
        match = self._pattern.search(answer)
        if match is None:
            raise ValueError("there is no score in the answer")
        return match.group(1)

    def _in_json(self, answer: str) -> Any:
        decoder = json.JSONDecoder()
        braces = (match.start() for match in re.finditer(r"\{", answer))
        for start in itertools.islice(braces, _MAX_BRACES):
            try:
                found, _ = decoder.raw_decode(answer, start)
            except (ValueError, RecursionError):  # broken, or nested too deeply
                continue
            if isinstance(found, dict) and self._key in found:
                return found[self._key]
        raise ValueError(f"there is no JSON object with {self._key!r} in the answer")
