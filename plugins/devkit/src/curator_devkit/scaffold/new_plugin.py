"""Fill in the templates of a plugin and write them to a new folder."""

from __future__ import annotations

import string
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import curator_core
from curator_core.sdk import ConfigError, Registry, official_distribution
from curator_core.specs import API_VERSION

if TYPE_CHECKING:
    import os

__all__ = ["new_plugin"]

_FILES = {
    "pyproject.toml": "pyproject.toml.template",
    "README.md": "README.md.template",
    "src/$package/__init__.py": "package_init.py.template",
    "src/$package/plugin.py": "plugin.py.template",
    "src/$package/text_length.py": "text_length.py.template",
    "src/$package/py.typed": None,
    "tests/test_conformance.py": "test_conformance.py.template",
}
"""The files to write, and their templates (None: an empty file)."""


def new_plugin(name: str, target_dir: str | os.PathLike[str] = ".") -> list[Path]:
    """Write a new plugin, with one filter and its tests, to the folder ``curator-<name>``.

    Args:
        name: Name of the plugin, in snake_case.
        target_dir: Where the folder is made.

    Returns:
        The files that were written.

    Raises:
        ConfigError: The name cannot be used, or the folder exists already.
    """
    Registry.from_environment().check_new_plugin_name(name)
    distribution = official_distribution(name)
    folder = Path(target_dir) / distribution
    if folder.exists():
        raise ConfigError(f"{folder} exists already", fix="choose another name or folder, or remove it")
    values = {
        "name": name,
        "distribution": distribution,
        "package": f"curator_{name}",
        "core_version": ".".join(curator_core.__version__.split(".")[:2]),
        "api": repr(API_VERSION),
    }
    written = []
    for path, template in _FILES.items():
        file = folder / string.Template(path).substitute(values)
        text = "" if template is None else string.Template(_template(template)).substitute(values)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        written.append(file)
    return written


def _template(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")
