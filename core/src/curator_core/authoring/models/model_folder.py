"""Find the folder with a model's files: a folder on disk, or a repository on the Hugging Face hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.values.errors import ConfigError, StageError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_model_name", "find_model_folder"]

_HUB_ID = re.compile(r"^[\w-][\w.-]*(/[\w-][\w.-]*)?$")

_CONFIGURATION = ("*.json", "*.txt", "*.model", "*/config.json")
_SAFE_WEIGHTS = ("*.safetensors", "*/*.safetensors")
_PICKLED_WEIGHTS = ("pytorch_model*.bin", "*/pytorch_model.bin")
_CODE = ("*.py",)


def check_model_name(stage: str, name: str, *, what: str = "model") -> None:
    """Refuse what is neither something on disk nor the id of a repository; nothing is downloaded.

    >>> check_model_name("text.embed", "sentence-transformers/all-MiniLM-L6-v2")

    Raises:
        ConfigError: There is no such folder, and it cannot be an id.
    """
    if Path(name).expanduser().exists() or _HUB_ID.match(name):
        return
    raise ConfigError(
        f"{stage}: there is no {what} {name!r}",
        fix="give the path of a folder on this machine, or an id on the hub such as intfloat/e5-small-v2",
    )


def find_model_folder(
    name: str, *, stage: str, allow_pickle: bool = False, trust_remote_code: bool = False, weights: bool = True
) -> Path:
    """Return the folder with the files of a model, downloading them once where they are on the hub.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     find_model_folder(folder, stage="acme.embed").samefile(folder)
    True

    Args:
        name: A folder, a file in it, or an id on the hub.
        stage: Name of the stage, for messages.
        allow_pickle: Also fetch weights that are pickles.
        trust_remote_code: Also fetch the model's own Python code.
        weights: Fetch weights, and not only what describes model and tokenizer.

    Raises:
        StageError: It is not on disk, and the hub cannot be reached or does not have it.
    """
    path = Path(name).expanduser()
    if path.exists():
        return path if path.is_dir() else path.parent
    check_model_name(stage, name)
    patterns = list(_CONFIGURATION)
    if weights:
        patterns += [*_SAFE_WEIGHTS, *(_PICKLED_WEIGHTS if allow_pickle else ()), *(_CODE if trust_remote_code else ())]
    return _download(name, patterns, stage=stage)


def _download(name: str, patterns: Sequence[str], *, stage: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise StageError(
            f"{stage}: {name!r} is not a folder here, and without huggingface_hub it cannot be fetched",
            fix="give the path of a folder, or pip install huggingface_hub",
        ) from error
    try:
        return Path(snapshot_download(name, allow_patterns=list(patterns)))
    except Exception as error:  # the client raises errors of several libraries, and OSErrors
        raise StageError(
            f"{stage}: {name!r} is not a folder here, and the hub did not deliver it: {type(error).__name__}: {error}",
            fix=f"check the id and the network, or run `hf download {name} --local-dir DIR` where the hub is reachable "
            "and give that folder",
        ) from error
