"""Find the files of a Hugging Face dataset on disk, by split, without the ``datasets`` package.

Three layouts are known: that of ``save_to_disk`` (``state.json`` names the Arrow files; ``dataset_dict.json`` names
the folders of splits), the cache of ``load_dataset`` (``dataset_info.json`` beside Arrow files), and repositories as
they are on the hub (data files whose names or folders say the split).
"""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING, Any

from curator_core.sdk import (
    ConfigError,
    LocationError,
    UnknownNameError,
    check_location,
    is_below,
    list_files,
    open_filesystem,
    report_refused,
)
from curator_table.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import FileEntry

__all__ = ["ALL_SPLITS", "chosen_files", "dataset_splits", "format_of"]

ALL_SPLITS = "*"
_ONLY_SPLIT = "train"
"""The split that ``datasets`` assigns to files that do not name one."""
_SPLIT_WORDS = {
    "train": "train", "training": "train",
    "test": "test", "testing": "test", "eval": "test", "evaluation": "test",
    "validation": "validation", "valid": "validation", "val": "validation", "dev": "validation",
}  # fmt: skip
"""Words in the names of files and folders that ``datasets`` takes for splits, and their splits."""
_SHARD = re.compile(r"^(?:.*[-_])?(?P<split>[A-Za-z0-9]\w*?)-\d{5,}-of-\d{5,}$")
_WORD = re.compile(r"[A-Za-z0-9]+")
_SIDE_FILES = frozenset({"dataset_info.json", "state.json", "dataset_dict.json", "dataset_infos.json"})


def format_of(path: str) -> str | None:
    """Return the table format of a file's extension.

    >>> format_of("data/train-00000-of-00001.parquet"), format_of("README.md")
    ('parquet', None)
    """
    return next((name for name, each in FORMATS.items() if path.lower().endswith(each.extensions)), None)


def dataset_splits(folder: str, *, follow_links: bool = False) -> dict[str, list[FileEntry]]:
    """Return the data files of a dataset by split; a link out of the folder is reported for quarantine.

    Raises:
        ConfigError: The folder holds no dataset.
    """
    filesystem, inner = open_filesystem(folder)
    if not filesystem.isdir(inner):
        raise ConfigError(
            f"{folder!r} is not a folder", fix="name the folder of a dataset, or read its files with table.read_parquet"
        )
    names = _read_json(folder, "dataset_dict.json")
    if names is not None:
        return {split: _saved_files(_beside(folder, "dataset_dict.json", split)) for split in names["splits"]}
    if _read_json(folder, "state.json") is not None:
        split = (_read_json(folder, "state.json") or {}).get("_split") or _ONLY_SPLIT
        return {str(split): _saved_files(folder)}
    return _by_name(folder, inner, follow_links=follow_links)


def chosen_files(folder: str, split: str | Sequence[str] | None, *, follow_links: bool = False) -> list[FileEntry]:
    """Return the files of the given splits.

    Args:
        folder: The dataset.
        split: Names of splits; ``*`` for all; None where there is only one.
        follow_links: Take files that links outside of the folder lead to.

    Raises:
        ConfigError: There are several splits, and none was given.
        UnknownNameError: There is no split of that name.
    """
    splits = dataset_splits(folder, follow_links=follow_links)
    if split is None and len(splits) > 1:
        raise ConfigError(
            f"{folder!r} has the splits {', '.join(splits)}, and training data should not be mixed with test data",
            fix=f"choose: split: {next(iter(splits))}, a list of several, or '*' for all",
        )
    wanted = list(splits) if split in (None, ALL_SPLITS) else [split] if isinstance(split, str) else list(split or ())
    for name in wanted:
        if name not in splits:
            raise UnknownNameError(f"split of {folder!r}:", name, splits, fix=f"it has: {', '.join(splits)}")
    return [entry for name in wanted for entry in splits[name]]


def _saved_files(folder: str) -> list[FileEntry]:
    state = _read_json(folder, "state.json")
    if state is None:
        raise ConfigError(f"{folder!r} has no state.json", fix="was the dataset saved to its end? save it again")
    files = state.get("_data_files") or []
    if state.get("_indices_files"):
        raise ConfigError(
            f"{folder!r} is a selection of rows by an index file",
            fix="call flatten_indices() before save_to_disk()",
        )
    if not files:
        return []
    # Files named in full are taken as they are, also those whose names begin with an underscore.
    return list_files([_beside(folder, "state.json", each["filename"]) for each in files])


def _beside(folder: str, named_by: str, name: object) -> str:
    """Return the path of a file or folder that a file of the dataset names: one in the same folder.

    Raises:
        ConfigError: It is elsewhere, or has no name.
    """
    origin = f"{folder.rstrip('/')}/{named_by}"
    elsewhere = ConfigError(
        f"{origin} names {str(name)!r}, which is not in its folder", fix="save the dataset again, in one folder"
    )
    try:
        path = check_location(str(name), origin=origin).path
        home = check_location(".", origin=origin).path
    except LocationError as error:
        raise elsewhere from error
    if "://" in path and not is_below(path, home):  # rows may name files of the whole bucket or host
        raise elsewhere
    return path


def _by_name(folder: str, inner: str, *, follow_links: bool) -> dict[str, list[FileEntry]]:
    extensions = [extension for each in FORMATS.values() for extension in each.extensions]
    splits: dict[str, list[FileEntry]] = {}
    for entry in list_files(folder, extensions=extensions, follow_links=follow_links, on_refused=report_refused):
        path = entry.path.rpartition(inner.strip("/"))[2].strip("/")
        if posixpath.basename(path) not in _SIDE_FILES and not posixpath.basename(path).startswith("cache-"):
            splits.setdefault(_split_of(path), []).append(entry)
    if not splits:
        raise ConfigError(f"{folder!r} holds no data files", fix=f"expected one of {', '.join(extensions)}")
    return splits


def _split_of(path: str) -> str:
    """Return the split that the path of a data file names.

    >>> [_split_of(path) for path in ("data/train-00000-of-00002.parquet", "my-val.jsonl", "test/a.csv", "a.jsonl")]
    ['train', 'validation', 'test', 'train']
    """
    stem = posixpath.basename(path).partition(".")[0]
    shard = _SHARD.match(stem)
    if shard:
        return _SPLIT_WORDS.get(shard["split"].lower(), shard["split"])
    for part in (stem, *reversed(posixpath.dirname(path).split("/"))):
        for word in _WORD.findall(part):
            if word.lower() in _SPLIT_WORDS:
                return _SPLIT_WORDS[word.lower()]
    return _ONLY_SPLIT


def _read_json(folder: str, name: str) -> dict[str, Any] | None:
    filesystem, inner = open_filesystem(folder)
    path = f"{inner.rstrip('/')}/{name}"
    if not filesystem.isfile(path):
        return None
    try:
        value = json.loads(filesystem.cat_file(path))
    except ValueError as error:
        raise ConfigError(f"{folder.rstrip('/')}/{name} is not JSON: {error}", fix="save the dataset again") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{folder.rstrip('/')}/{name} is not a JSON object", fix="save the dataset again")
    return value
