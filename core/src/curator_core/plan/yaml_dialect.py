"""The YAML that pipeline files are written in: the core schema of YAML 1.2, plain values only.

PyYAML follows YAML 1.1, where ``no`` is false, ``1e-3`` is text and ``2024-01-01`` is a date: traps in a list of
languages or a threshold. Here only ``true``/``false``, ``null``/``~``, decimal, ``0x``/``0o`` and floating-point
numbers are anything else than text.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

__all__ = ["MAX_DEPTH", "PlainDumper", "PlainLoader", "scalar_value"]

MAX_DEPTH = 100
"""Deepest nesting of a pipeline file."""
_PREFIX = "tag:yaml.org,2002:"
_NULL, _BOOL, _INT, _FLOAT, _STR = (f"{_PREFIX}{name}" for name in ("null", "bool", "int", "float", "str"))
_LINE_BREAK = re.compile("[\n\r\x85\u2028\u2029\ufeff]")
_FORMS = (
    (_NULL, re.compile(r"^(?:null|Null|NULL|~|)$"), ["n", "N", "~", ""]),
    (_BOOL, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    (_INT, re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), list("-+0123456789")),
    (
        _FLOAT,
        re.compile(
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+0123456789."),
    ),
)


class PlainLoader(yaml.SafeLoader):
    """Compose nodes with the tags of this dialect; nothing is ever constructed from a tag.

    Nesting is bounded while the text is scanned: PyYAML's scanner takes time in proportion to the depth for every
    character, and its parser recurses.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML reads it from the class

    def fetch_flow_collection_start(self, token_class: Any) -> None:
        """Take up ``[`` or ``{``."""
        self._check_depth(self.flow_level)
        super().fetch_flow_collection_start(token_class)

    def add_indent(self, column: int) -> bool:
        """Take up a list or mapping that begins by its indentation."""
        self._check_depth(len(self.indents))
        return bool(super().add_indent(column))

    def _check_depth(self, depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise yaml.scanner.ScannerError(
                None, None, f"nested too deeply, more than {MAX_DEPTH} levels", self.get_mark()
            )


class PlainDumper(yaml.SafeDumper):
    """Write values so that this dialect and YAML 1.1 both read them back: whatever either mistakes is quoted."""

    yaml_implicit_resolvers = {key: list(forms) for key, forms in yaml.SafeDumper.yaml_implicit_resolvers.items()}  # noqa: RUF012

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature is PyYAML's
        """Write equal values out in full: anchors are noise to a reader."""
        return True


def _represent_text(dumper: PlainDumper, text: str) -> yaml.ScalarNode:
    """Quote text with line breaks of any kind: other styles fold some of them into spaces."""
    style = '"' if _LINE_BREAK.search(text) else None
    return dumper.represent_scalar(_STR, text, style=style)


PlainDumper.add_representer(str, _represent_text)
for _tag, _form, _first in _FORMS:
    PlainLoader.add_implicit_resolver(_tag, _form, _first)
    PlainDumper.add_implicit_resolver(_tag, _form, _first)


def scalar_value(text: str, tag: str | None = None) -> Any:
    """Return the value of a scalar: by its tag, or as plain text would be read.

    >>> [scalar_value(text) for text in ("no", "5", "1e-3", "true", "~")]
    ['no', 5, 0.001, True, None]

    Raises:
        ValueError: The text does not fit the tag, or the tag is not one of a plain scalar.
    """
    if tag is None:
        tag = next((each for each, form, _ in _FORMS if form.match(text)), _STR)
    if tag == _STR:
        return text
    if tag == _NULL:
        return None
    if tag == _BOOL and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if tag == _INT:
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
    if tag == _FLOAT:
        return _float(text)
    raise ValueError(f"{text!r} is not a {tag.removeprefix(_PREFIX)}")


def _float(text: str) -> float:
    lowered = text.lower()
    if lowered.endswith(".inf"):
        return -math.inf if lowered.startswith("-") else math.inf
    return math.nan if lowered == ".nan" else float(text)
