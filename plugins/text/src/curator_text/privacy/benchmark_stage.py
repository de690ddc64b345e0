"""Hold the n-grams of benchmark sets while a stage works: what the stages against contamination share."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any, TypeVar

from curator_core.sdk import ConfigError, ProcessingStage
from curator_text.privacy.common_grams import read_common
from curator_text.privacy.reference_index import build_index, prepare
from curator_text.privacy.reference_texts import list_references

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import NodeInfo, Task, WorkerInfo
    from curator_text.privacy.reference_index import GramIndex

__all__ = ["BenchmarkStage"]

X = TypeVar("X", bound="Task[Any]")
Y = TypeVar("Y", bound="Task[Any]")


class BenchmarkStage(ProcessingStage[X, Y], ABC):
    """Base of stages that compare documents with benchmark sets; a subclass has the parameters named here.

    ``counts`` and ``max_matches`` are optional: what they say is common is not looked for.
    """

    references: str | list[str] | dict[str, str | list[str]]
    fields: list[str] | None
    ngrams: int
    min_words: int
    counts: str | None = None
    max_matches: int = 0

    def check_sizes(self) -> None:
        """Refuse sizes of n-grams that make no sense together.

        Raises:
            ConfigError: Says which.
        """
        if not 1 <= self.min_words <= self.ngrams:
            raise ConfigError(
                f"{self.name}: min_words={self.min_words} must be from 1 to ngrams={self.ngrams}",
                fix="e.g. ngrams: 13, min_words: 8",
            )

    def preflight(self) -> Sequence[str] | None:
        """Find the benchmark files, so that a missing one ends the run before it starts."""
        list_references(self.references)
        return super().preflight()

    def setup_on_node(self, node: NodeInfo) -> None:
        """Compile the kernels, once a machine."""
        super().setup_on_node(node)
        prepare()

    def setup(self, worker: WorkerInfo) -> None:
        """Read the benchmark sets."""
        super().setup(worker)
        self._index = self._load()

    def teardown(self) -> None:
        """Forget the benchmark sets."""
        self.__dict__.pop("_index", None)
        super().teardown()

    def index(self) -> GramIndex:
        """Return the n-grams that were read when the stage was set up, or read them."""
        index: GramIndex | None = self.__dict__.get("_index")
        return self._load() if index is None else index

    def _load(self) -> GramIndex:
        index = build_index(
            self.references, ngrams=self.ngrams, min_words=self.min_words, fields=self.fields, stage=self.name
        )
        return index if self.counts is None else index.without(read_common(self.counts, self.max_matches))
