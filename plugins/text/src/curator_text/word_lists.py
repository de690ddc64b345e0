"""Lists of words and domains that come from users' files, or with this package."""

from __future__ import annotations

from importlib import resources

from curator_core.sdk import ConfigError, list_files, open_filesystem

__all__ = ["packaged_list", "read_lists"]


def read_lists(paths: str | list[str], *, stage: str) -> list[str]:
    """Return the lines of text files, without blank lines and comments (``# …``).

    Args:
        paths: Files, folders of ``.txt`` files, globs or URLs.
        stage: Name of the stage that asks, for messages.

    Raises:
        ConfigError: There is no such file, or it is not UTF-8.
    """
    lines: list[str] = []
    for entry in list_files(paths, extensions=[".txt", ".list"]):
        filesystem, inner = open_filesystem(entry.path)
        try:
            text = filesystem.cat_file(inner).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{stage}: the list {entry.path!r} is not UTF-8: {error.reason}") from error
        lines.extend(_entries(text))
    return lines


def packaged_list(name: str) -> list[str]:
    """Return a list that comes with this package, such as ``adult_domains``."""
    return _entries(
        resources.files("curator_text").joinpath("lists").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    )


def _entries(text: str) -> list[str]:
    r"""Return the entries of a list.

    >>> _entries("one\n# comment\n\n two\n")
    ['one', 'two']
    """
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
