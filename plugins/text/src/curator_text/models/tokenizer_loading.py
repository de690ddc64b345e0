"""Load a tokenizer from a folder, a tokenizer.json, or the hub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.sdk import StageError, find_model_folder

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["load_tokenizer", "max_input_length", "read_json"]

_NO_LIMIT = 10**6  # transformers writes 10**30 where a tokenizer has no limit


def load_tokenizer(name: str, *, stage: str) -> Tokenizer:
    """Return a tokenizer that neither truncates nor pads.

    Args:
        name: A folder with a ``tokenizer.json``, such a file itself, or an id on the hub.
        stage: Name of the stage, for messages.

    Raises:
        StageError: There is none, or it cannot be read.
    """
    from tokenizers import Tokenizer

    path = Path(name).expanduser()
    file = path if path.is_file() else find_model_folder(name, stage=stage, weights=False) / "tokenizer.json"
    if not file.exists():
        tokenizer = _converted(file.parent, stage=stage)
    else:
        try:
            tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises bare Exceptions
            raise StageError(
                f"{stage}: {file} is not a tokenizer: {error}",
                fix="give a tokenizer.json of Hugging Face tokenizers, or a folder that has one",
            ) from error
    tokenizer.no_padding()
    return tokenizer


def max_input_length(folder: Path, *, default: int = 512) -> int:
    """Return how many tokens a model takes, as the files of its folder say."""
    found = (
        read_json(folder / "sentence_bert_config.json").get("max_seq_length"),
        read_json(folder / "tokenizer_config.json").get("model_max_length"),
        read_json(folder / "config.json").get("max_position_embeddings"),
    )
    return next((int(each) for each in found if isinstance(each, (int, float)) and 0 < each < _NO_LIMIT), default)


def read_json(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file, empty where there is no such file."""
    if not file.exists():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StageError(f"{file} is not JSON: {error}", fix="fetch the model again") from error
    return content if isinstance(content, dict) else {}


def _converted(folder: Path, *, stage: str) -> Tokenizer:
    """Make a fast tokenizer of the files of a slow one, which takes transformers."""
    fix = "give a folder with a tokenizer.json, or pip install 'curator-text[models]' sentencepiece to convert others"
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise StageError(f"{stage}: there is no tokenizer.json in {folder}", fix=fix) from error
    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True).backend_tokenizer
    except Exception as error:  # anything: the files may be those of a model without a tokenizer
        raise StageError(
            f"{stage}: there is no tokenizer in {folder} that can be read: {type(error).__name__}: {error}", fix=fix
        ) from error
