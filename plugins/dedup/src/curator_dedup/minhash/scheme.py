"""Everything that decides a MinHash signature, as one value: signatures of different schemes must never be compared."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from curator_core.sdk import ConfigError, DataError
from curator_table import SEGMENTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_table import SpacedWords

__all__ = ["SCHEME_KEY", "MinhashScheme"]

SCHEME_KEY = b"curator.minhash"
"""Under which the scheme is kept in the metadata of a field or a file."""

_VERSION = 1
"""Raised when the same scheme would give other signatures."""


@dataclass(frozen=True)
class MinhashScheme:
    """How signatures are made.

    >>> MinhashScheme(unit="word", ngrams=5, num_hashes=112).method
    'multiply'

    Args:
        unit: Unit of shingles: characters (code points) or words.
        ngrams: How many of them make a shingle.
        num_hashes: Entries of a signature.
        bits: Size of an entry: 32 is enough for any corpus; with 64, entries of different shingles never meet.
        seed: Start of the random numbers.
        method: ``sketch`` or ``multiply`` (see :mod:`curator_dedup.kernels.signatures`); the faster one for the unit
            unless given.
        words: Where words end: at whitespace, of which a segmenter puts some into Chinese, Japanese or Thai first.
    """

    unit: Literal["char", "word"] = "char"
    ngrams: int = 24
    num_hashes: int = 260
    bits: Literal[32, 64] = 32
    seed: int = 42
    method: Literal["sketch", "multiply"] | None = None
    words: SpacedWords = "whitespace"

    def __post_init__(self) -> None:
        for name in ("ngrams", "num_hashes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"MinHash: {name} must be at least 1, got {getattr(self, name)}")
        if self.unit not in ("char", "word") or self.bits not in (32, 64):
            raise ConfigError(f"MinHash: unit {self.unit!r} with {self.bits} bits", fix="char or word; 32 or 64 bits")
        if not 0 <= self.seed < 2**64:
            raise ConfigError(f"MinHash: the seed must be a number of 64 bits, got {self.seed}")
        if self.method is None:
            object.__setattr__(self, "method", "sketch" if self.unit == "char" else "multiply")
        elif self.method not in ("sketch", "multiply"):
            raise ConfigError(f"MinHash: method {self.method!r}", fix="use sketch or multiply")
        if self.words != "whitespace" and (self.unit != "word" or self.words not in SEGMENTED):
            raise ConfigError(
                f"MinHash: words {self.words!r} with shingles of {self.unit}s",
                fix=f"use whitespace, {', '.join(sorted(SEGMENTED))}, and shingles of words (word_ngrams)",
            )

    @property
    def entry_type(self) -> type[np.unsignedinteger[Any]]:
        """The number type of an entry."""
        return np.uint32 if self.bits == 32 else np.uint64  # noqa: PLR2004

    def constants(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the random numbers of the method: one multiplier and one term for each entry."""
        return _constants(self)

    def to_metadata(self) -> dict[bytes, bytes]:
        """Return the scheme as metadata of an Arrow field or schema."""
        return {SCHEME_KEY: json.dumps({"version": _VERSION, **self.parameters()}, sort_keys=True).encode()}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters by name; those that earlier versions did not have only where they change something."""
        return {name: value for name, value in asdict(self).items() if (name, value) != ("words", "whitespace")}

    def check(self, metadata: dict[bytes, bytes] | None, *, source: str) -> None:
        """Refuse signatures that were made in another way.

        Args:
            metadata: The metadata of the signatures.
            source: Where they are.

        Raises:
            DataError: The two differ; the message names the differences.
        """
        found = (metadata or {}).get(SCHEME_KEY)
        if found is None:
            raise DataError("these are no MinHash signatures: their scheme is not noted", source=source)
        theirs, ours = json.loads(found), json.loads(self.to_metadata()[SCHEME_KEY])
        unlike = [
            f"{key} is {theirs.get(key)}, not {ours.get(key)}"
            for key in {**ours, **theirs}
            if theirs.get(key) != ours.get(key)
        ]
        if unlike:
            raise DataError(
                f"the signatures were made with other parameters: {'; '.join(unlike)}",
                source=source,
                fix="use the same parameters, or make the signatures again in another folder",
            )


@lru_cache(maxsize=8)  # they are requested for every few thousand documents
def _constants(scheme: MinhashScheme) -> tuple[NDArray[Any], NDArray[Any]]:
    from curator_dedup.kernels.mixing import seeds64

    factors = seeds64(scheme.seed, scheme.num_hashes, "factors")
    terms = seeds64(scheme.seed, scheme.num_hashes, "terms")
    if scheme.method == "sketch" or scheme.bits == 64:  # noqa: PLR2004
        return factors, terms
    half = np.uint64(32)
    return (factors >> half).astype(np.uint32) | np.uint32(1), (terms >> half).astype(np.uint32)
