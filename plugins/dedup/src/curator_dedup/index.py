"""The keys of a corpus on disk, with everything needed to compare another corpus with it later."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from curator_core.sdk import ConfigError, DataError, atomic_output, open_filesystem

__all__ = ["Index"]

_VERSION = 1


@dataclass(frozen=True)
class Index:
    """A corpus whose keys have been made.

    Args:
        kind: Of keys: ``fuzzy`` or ``exact``.
        parameters: The settings that the keys depend on.
        partitions: Into how many partitions they are sorted.
        paths: The files of the corpus.
        format: Their format.
        block_bytes: Size of a unit of work they were read in.
        content_column: Column that was compared.
        numbering: File with the numbers of the documents.
        documents: How many there are.
    """

    kind: str
    parameters: dict[str, Any]
    partitions: int
    paths: list[str]
    format: str
    block_bytes: int
    content_column: str
    numbering: str
    documents: int

    def write(self, folder: str) -> None:
        """Note the index in the folder of its cache."""
        with atomic_output(f"{folder}/index.json") as file:
            file.write(json.dumps({"version": _VERSION, **asdict(self)}, indent=1).encode())

    @classmethod
    def read(cls, folder: str) -> Index:
        """Read the stored values.

        Raises:
            ConfigError: There is no index in the folder.
        """
        filesystem, inner = open_filesystem(f"{folder}/index.json")
        try:
            content = json.loads(filesystem.cat_file(inner))
        except FileNotFoundError as error:
            raise ConfigError(
                f"there is no index in {folder!r}", fix="name the cache_path of a workflow that has run to its end"
            ) from error
        if content.pop("version", None) != _VERSION:
            raise DataError("the index was made by another version of curator", source=folder, fix="make it again")
        if "content_field" in content:  # an index may be older than the name of today
            content["content_column"] = content.pop("content_field")
        return cls(**content)

    def check(self, kind: str, parameters: dict[str, Any], *, folder: str) -> None:
        """Refuse to compare keys that were made in another way.

        Raises:
            ConfigError: They differ; the message names the differences.
        """
        if self.kind != kind:
            raise ConfigError(f"the index in {folder!r} is of kind {self.kind!r}, not {kind!r}")
        unlike = [
            f"{name} is {self.parameters.get(name)} there and {value} here"
            for name, value in parameters.items()
            if self.parameters.get(name) != value
        ]
        if unlike:
            raise ConfigError(
                f"the index in {folder!r} was made with other parameters: {'; '.join(unlike)}",
                fix="use those of the index, or make the index again",
            )
