"""The identity of a pipeline: stages, parameters and code versions, all that decides its output."""

from __future__ import annotations

import hashlib
import inspect
import json
import secrets
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from curator_core.parameters.references import identity_of_values
from curator_core.run.ledger.former_names import (
    as_named_today,
    as_one_reader,
    is_same_release,
    with_parameters_of_today,
)
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.parameters.references import References
    from curator_core.plan.plan import Plan
    from curator_core.registry import Registry

__all__ = ["differences", "plan_identity"]

_SHOWN_CHARS = 60
_TRIES = 20
_TYPE = "type "
"""Prefix of the names of classes among the parameters."""


def plan_identity(plan: Plan) -> dict[str, Any]:
    """Return the identity of a plan as plain values.

    How a stage is run (resources, workers, batch sizes, retries) is no part of it, nor is the executor: another machine
    may resume a run. Nor are credentials: they change without changing the output, and are not for the disk. Other
    values from variables are there as digests.
    """
    references = plan.pipeline.references
    distributions = _distributions(plan.registry)
    return {"stages": [_stage_identity(planned.stage, references, distributions) for planned in plan.stages]}


def differences(
    before: Mapping[str, Any], now: Mapping[str, Any], canonical_name: Callable[[str], str] = str
) -> list[str]:
    """Return the differences of two identities, one per line; renamed stages and parameters are the same.

    >>> old = {"stages": [{"name": "a", "params": {"n": 1}}]}
    >>> new = {"stages": [{"name": "a", "params": {"n": 2}}, {"name": "b", "params": {}}]}
    >>> differences(old, new)
    ["stage 'a': n 1 → 2", "stage 'b' is new"]

    Args:
        before: The identity that a ledger has.
        now: The identity of today.
        canonical_name: Gives the name that a stage has today; the same name unless given.
    """
    old, new = (
        {each["name"]: each for each in (as_named_today(stage, canonical_name) for stage in identity.get("stages", ()))}
        for identity in (before, now)
    )
    lines = [f"stage {name!r} is gone" for name in old if name not in new]
    for name, stage in new.items():
        if name not in old:
            lines.append(f"stage {name!r} is new")
        else:
            lines += _stage_differences(name, with_parameters_of_today(as_one_reader(old[name], stage), stage), stage)
    if not lines and list(old) != list(new):
        lines.append(f"the stages have another order: {', '.join(old)} → {', '.join(new)}")
    return lines


def _stage_differences(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    code = [
        f"stage {name!r}: {key} {old.get(key)} → {new.get(key)}"
        for key in ("class", "code", "version")
        if not _is_same(old.get(key), new.get(key), is_name=key == "class")
        and not (key == "code" and is_same_release(old.get(key), new.get(key)))
    ]
    before, now = old.get("params", {}), new.get("params", {})
    return code + [
        f"stage {name!r}: {key} {_shown(before, key)} → {_shown(now, key)}"
        for key in dict.fromkeys([*before, *now])
        if (not _is_same(before.get(key), now.get(key)) or (key in before) != (key in now))
        # What an older stage could be told, and was not told, is no difference where it is gone.
        and not (key not in now and (before[key] is None or before[key] is False))
    ]


def _is_same(old: Any, new: Any, *, is_name: bool = False) -> bool:
    """Whether two values are equal. Names of classes had their modules before them once, and modules may move."""
    if isinstance(new, str) and new.startswith(_TYPE):
        new, is_name = new.removeprefix(_TYPE), True
        old = old.removeprefix(_TYPE) if isinstance(old, str) else old
    return bool(old == new or (is_name and isinstance(old, str) and old.endswith(f".{new}")))


def _shown(params: Mapping[str, Any], key: str) -> str:
    if key not in params:
        return "(not there)"
    value = params[key]
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def _stage_identity(
    stage: ProcessingStage[Any, Any], references: References, distributions: Mapping[str, str]
) -> dict[str, Any]:
    from curator_core.authoring.function_stage import code_of

    thing = code_of(stage)
    return {
        "name": stage.name,
        "class": thing.__qualname__,
        "code": _code_version(thing, distributions),
        "version": stage.version,
        "params": identity_of_values(_params(stage), references),
    }


def _params(stage: ProcessingStage[Any, Any]) -> dict[str, Any]:
    from curator_core.parameters.params import parameter_values

    try:
        params = parameter_values(stage)
    except ConfigError:  # one is not kept under its own name, so what is kept has to do
        params = {key: value for key, value in vars(stage).items() if not key.startswith("_")}
    return {key: _plain(value) for key, value in sorted(params.items())}


def _plain(value: Any) -> Any:
    """Return a parameter as JSON gives it back; other values are represented by their type or their code."""
    from curator_core.plan.dump import plain_value

    if isinstance(value, type):
        return f"{_TYPE}{value.__qualname__}"
    if type(value).__module__.startswith("polars."):
        return _expression(value)
    if callable(value):
        return f"{getattr(value, '__qualname__', type(value).__qualname__)} {_source_hash(value)}"
    try:
        return json.loads(json.dumps(plain_value(value, "")))
    except (ConfigError, TypeError, ValueError):
        return f"a {type(value).__name__}"


def _expression(value: Any) -> str:
    """Return an expression of polars with a hash of all of it: its text leaves out most of a long list.

    One that calls a Python function is never the same as before, because nobody can tell.
    """
    try:
        content = value.meta.serialize()
    except Exception:  # noqa: BLE001 - polars raises what its pickling raises, also for want of a package
        content = secrets.token_bytes(8)
    return f"{value} ({hashlib.blake2b(content, digest_size=6).hexdigest()})"


def _code_version(thing: Any, distributions: Mapping[str, str]) -> str:
    """Return the distribution and version that code comes from; for code that is in none, a hash of its text."""
    package = thing.__module__.partition(".")[0]
    return distributions.get(package) or f"source {_source_hash(thing)}"


def _distributions(registry: Registry) -> dict[str, str]:
    from curator_core import __version__

    found = {"curator_core": f"curator-core {__version__}"}
    for plugin in registry.plugins:
        candidate = plugin.candidate
        if candidate.distribution is not None:
            found.setdefault(candidate.value.partition(".")[0].partition(":")[0], candidate.provider)
    return found


@lru_cache(maxsize=1024)
def _source_hash(thing: Any) -> str:
    try:
        text = _source_of(thing)
    except (OSError, TypeError):  # typed at a prompt, or made by other code
        return "unknown"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _source_of(thing: Any) -> str:
    """Return source code, also while other threads parse some: CPython 3.11 then fails at times (gh-106905)."""
    for _ in range(_TRIES):
        try:
            return inspect.getsource(thing)
        except SystemError:  # noqa: PERF203 - rare
            continue
    return inspect.getsource(thing)
