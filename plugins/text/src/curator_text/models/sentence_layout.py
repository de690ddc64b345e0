"""The settings in a folder of sentence-transformers for making one vector of a text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from curator_core.sdk import StageError
from curator_text.models.tokenizer_loading import read_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Pooling", "SentenceLayout", "read_sentence_layout"]

Pooling = Literal["auto", "mean", "cls", "last"]

_POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
}
_POOLING_NAMES = {"mean": "mean", "cls": "cls", "lasttoken": "last"}  # how version 5 and later write it


@dataclass(frozen=True)
class SentenceLayout:
    """How a text's token vectors become one vector.

    Args:
        transformer: Folder with the transformer.
        pooling: How token vectors are joined.
        normalize: Whether the result has length one.
        dense: Folders with linear layers between the two.
    """

    transformer: Path
    pooling: Literal["mean", "cls", "last"] = "mean"
    normalize: bool = False
    dense: tuple[Path, ...] = ()


def read_sentence_layout(folder: Path, *, stage: str) -> SentenceLayout:
    """Read ``modules.json`` and the modules it names; a folder without it is a transformer with mean pooling.

    Raises:
        StageError: A module is of a kind that is not known here.
    """
    file = folder / "modules.json"
    if not file.exists():
        return SentenceLayout(folder)
    layout: dict[str, object] = {"transformer": folder}
    dense: list[Path] = []
    for module in json.loads(file.read_text(encoding="utf-8")):
        kind = str(module["type"]).rpartition(".")[2]
        path = folder / module["path"] if module["path"] else folder
        if kind == "Transformer":
            layout["transformer"] = path
        elif kind == "Pooling":
            layout["pooling"] = _pooling(path, stage=stage)
        elif kind == "Normalize":
            layout["normalize"] = True
        elif kind == "Dense":
            dense.append(path)
        elif kind != "Dropout":
            raise StageError(
                f"{stage}: {file} has a module of type {kind!r}",
                fix="known are Transformer, Pooling, Dense and Normalize; use another model",
            )
    return SentenceLayout(**layout, dense=tuple(dense))  # type: ignore[arg-type]  # filled above, key by key


def _pooling(path: Path, *, stage: str) -> str:
    config = read_json(path / "config.json")
    named = config.get("pooling_mode")
    chosen = [named] if isinstance(named, str) else list(named or ())
    chosen += [key for key, value in config.items() if key.startswith("pooling_mode_") and value is True]
    known = [_POOLINGS.get(each) or _POOLING_NAMES.get(each) for each in chosen]
    if len(chosen) != 1 or known[0] is None:
        raise StageError(
            f"{stage}: {path / 'config.json'} asks for the pooling {', '.join(map(str, chosen)) or 'none'}",
            fix="known are mean, cls and last token, one at a time; choose one with pooling",
        )
    return known[0]
