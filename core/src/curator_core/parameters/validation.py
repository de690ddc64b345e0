"""Check one value against one type, with pydantic, and say in plain words what does not fit."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from curator_core.parameters.problems import Fault, did_you_mean
from curator_core.values.errors import CuratorError
from curator_core.values.redaction import redact

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

    from curator_core.parameters.problems import Path

__all__ = ["adapter_for", "check_value"]

_SHOWN_CHARS = 60
_WORDS = {
    "Input should be": "expected",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "Value error, ": "",
}
_PLAIN = (str, bool, int, float)
_UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING_KEY = ("missing", "missing_argument", "missing_keyword_only_argument")


def adapter_for(annotation: Any) -> TypeAdapter[Any]:
    """Return a validator for ``tuple[annotation]``.

    The tuple is there because pydantic takes settings (no unknown keys in nested dataclasses) for any type but a bare
    dataclass.
    """
    try:
        return _adapter(annotation)
    except TypeError:  # an annotation that cannot be hashed
        return _adapter.__wrapped__(annotation)


@functools.lru_cache(maxsize=4096)
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, TypeAdapter

    return TypeAdapter(tuple[annotation], config=ConfigDict(extra="forbid", arbitrary_types_allowed=True))


def check_value(value: Any, annotation: Any) -> tuple[Any, list[Fault]]:
    """Return the value as its type wants it, or what is wrong with it."""
    if annotation is Any or _is_plainly(value, annotation):
        return value, []
    from pydantic import ValidationError

    try:
        (checked,) = adapter_for(annotation).validate_python((value,))
    except ValidationError as error:
        return None, _faults(error.errors(include_url=False), value, _field_names(annotation))
    except CuratorError as error:  # a value object, such as Resources, that checks itself
        return None, [Fault((), error.message)]
    if isinstance(value, bool) and not isinstance(checked, bool) and checked is not value:
        return None, [Fault((), f"expected {type(checked).__name__}, got {_shown(value)}")]
    return checked, []


def _is_plainly(value: Any, annotation: Any) -> bool:
    """Return whether a value is of a plain type that is asked for, so that there is nothing to convert or to doubt.

    Most parameters are, and importing pydantic takes longer than anything else that is done with a pipeline's file.
    """
    kind = type(value)
    if kind not in _PLAIN or (kind is str and not _is_text(value)):
        return False
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return kind in typing.get_args(annotation)
    return annotation is kind


def _is_text(value: str) -> bool:
    """Return whether a string can be written down: bytes of a path that are no UTF-8 come as halves of characters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _faults(errors: list[ErrorDetails], value: Any, fields: list[str]) -> list[Fault]:
    """Merge the complaints about one place: a union complains once per member."""
    by_place: dict[Path, list[ErrorDetails]] = {}
    for error in errors:
        by_place.setdefault(_real_path(error, value), []).append(error)
    if len(by_place) > 1:
        # A member of the union fits in part: what it says about the inside is worth more than "not a string".
        by_place.pop((), None)
    return [Fault(path, _sentence(each, path, value, fields)) for path, each in by_place.items()]


def _field_names(annotation: Any) -> list[str]:
    """Return the keys that a mapping for this type may have, where the type is a dataclass or a union with one."""
    members = [annotation, *typing.get_args(annotation)]
    return [each.name for member in members if dataclasses.is_dataclass(member) for each in dataclasses.fields(member)]


def _real_path(error: ErrorDetails, value: Any) -> Path:
    """Return where an error is, without the labels that pydantic adds for members of unions."""
    path: list[str | int] = []
    here = value
    location = error["loc"][1:]  # the tuple around the value
    for position, part in enumerate(location):
        is_last = position == len(location) - 1
        if _has(here, part):
            here = here[part]
        elif not (is_last and error["type"] in _MISSING_KEY):
            continue
        path.append(part)
    return tuple(path)


def _has(container: Any, part: str | int) -> bool:
    if isinstance(container, Mapping):
        return part in container
    return isinstance(container, (list, tuple)) and isinstance(part, int) and part < len(container)


def _sentence(errors: list[ErrorDetails], path: Path, value: Any, fields: list[str]) -> str:
    first = errors[0]
    if first["type"] in _UNKNOWN_KEY:
        return f"unknown key{did_you_mean(path[-1], fields) if len(path) == 1 else ''}"
    if first["type"] in _MISSING_KEY:
        return "is missing"
    wants = dict.fromkeys(_wanted(each) for each in errors)
    for part in path:
        value = value[part]
    hint = _literal_hint(first, value)
    return f"{' or '.join(wants)}, got {_shown(value)}{hint}"


def _wanted(error: ErrorDetails) -> str:
    message = error["msg"]
    if error["type"] == "dataclass_type":
        return "expected a mapping"
    if error["type"].endswith("_parsing") and ", unable" in message:
        message = message.partition(", unable")[0]
    for pydantic_words, ours in _WORDS.items():
        message = message.replace(pydantic_words, ours)
    return message


def _literal_hint(error: ErrorDetails, value: Any) -> str:
    if error["type"] not in ("literal_error", "enum") or not isinstance(value, str):
        return ""
    return did_you_mean(value, re.findall(r"'([^']*)'", str(error.get("ctx", {}).get("expected", ""))))


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = repr(value).lower() if isinstance(value, bool) else redact(repr(value))  # before a part of it is cut off
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"
