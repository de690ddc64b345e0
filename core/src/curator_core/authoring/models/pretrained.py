"""Load transformers models from a folder, safely and quietly."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from curator_core.values.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["LoadSettings", "load_pretrained", "quiet_transformers"]


class LoadSettings(Protocol):
    """What the user allows a model to do when it is loaded.

    >>> from types import SimpleNamespace
    >>> settings: LoadSettings = SimpleNamespace(allow_pickle=False, trust_remote_code=False)
    """

    @property
    def allow_pickle(self) -> bool:
        """Whether weights may be pickles, which can run code."""

    @property
    def trust_remote_code(self) -> bool:
        """Whether Python code that comes with the model may run."""


def load_pretrained(
    auto_class: Any, folder: Path, settings: LoadSettings, *, stage: str, unused: tuple[str, ...] = ()
) -> Any:
    """Return a model in single precision.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from types import SimpleNamespace
    >>> from transformers import AutoModel, ViTConfig, ViTModel
    >>> tiny = ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    >>> safe = SimpleNamespace(allow_pickle=False, trust_remote_code=False)
    >>> with tempfile.TemporaryDirectory() as folder, quiet_transformers():
    ...     ViTModel(tiny).save_pretrained(folder)
    ...     model = load_pretrained(AutoModel, Path(folder), safe, stage="acme.embed")
    >>> model.config.hidden_size
    8

    Args:
        auto_class: Class of transformers that knows how, such as ``AutoModel``.
        folder: Where the files are.
        settings: Whether pickles and code of the model's own are allowed.
        stage: Name of the stage, for messages.
        unused: How the names of weights begin that may be missing, because nothing is made of them.

    Raises:
        StageError: The files are missing, of the wrong kind, incomplete, or would run code.
    """
    import torch

    try:
        with quiet_transformers():
            model, report = auto_class.from_pretrained(
                str(folder),
                local_files_only=True,
                use_safetensors=None if settings.allow_pickle else True,
                trust_remote_code=settings.trust_remote_code,
                dtype=torch.float32,
                output_loading_info=True,
            )
    except Exception as error:  # the library raises OSError, ValueError, ImportError and more for bad folders
        raise StageError(
            f"{stage}: no model can be loaded from {folder}: {type(error).__name__}: {error}",
            fix=_fix(folder, settings),
        ) from error
    # The library fills weights that a file lacks with random numbers, and only says so in its log.
    missing = sorted(name for name in report["missing_keys"] if not name.startswith(unused))
    if missing:
        raise StageError(
            f"{stage}: the weights in {folder} lack {len(missing)} that the model needs, {missing[0]!r} among them",
            fix="give a model that was trained for this: an encoder to embed, a classifier to classify",
        )
    return model


def _fix(folder: Path, settings: LoadSettings) -> str:
    has_pickles = any(folder.glob("*.bin"))
    if has_pickles and not any(folder.glob("*.safetensors")) and not settings.allow_pickle:
        return (
            "these weights are pickles, which can run code: convert them to model.safetensors, or set "
            "allow_pickle: true if you trust who made them"
        )
    if any(folder.glob("*.py")) and not settings.trust_remote_code:
        return "if the model needs the Python code in its folder and you have read it, set trust_remote_code: true"
    return "give a folder with config.json and model.safetensors, as save_pretrained writes them"


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep progress bars and load reports of transformers away while loading; errors come out.

    >>> from transformers.utils import logging as library_logging
    >>> with quiet_transformers():
    ...     library_logging.is_progress_bar_enabled()
    False
    """
    from transformers.utils import logging as library_logging

    had_bars = library_logging.is_progress_bar_enabled()
    level = library_logging.get_verbosity()
    library_logging.disable_progress_bar()
    library_logging.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        library_logging.set_verbosity(level)
        if had_bars:
            library_logging.enable_progress_bar()
