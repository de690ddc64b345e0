"""Import one plugin and ask it what it offers, so that whatever it does wrong stays its own problem."""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pluggy

from curator_core.registry.declarations import DECLARATIONS, SNAKE_CASE, problems_in
from curator_core.registry.plugin_info import PluginInfo
from curator_core.values import hookspecs
from curator_core.values.errors import nearest
from curator_core.values.specs import API_VERSION

if TYPE_CHECKING:
    import types

    from curator_core.registry.plugin_info import Candidate, PluginStatus

__all__ = ["HEAVY_MODULES", "HOOKS", "OBSERVER_HOOKS", "SLOW_IMPORT_S", "load_plugin", "one_line"]

HEAVY_MODULES = frozenset(
    {
        "PIL",
        "av",
        "cv2",
        "jax",
        "librosa",
        "numba",
        "numpy",
        "onnxruntime",
        "pandas",
        "polars",
        "pyarrow",
        "pydantic",
        "ray",
        "scipy",
        "sklearn",
        "soundfile",
        "tensorflow",
        "torch",
        "transformers",
        "vllm",
    }
)
"""Packages that are expensive to import, and therefore must not load while plugins are only listed."""

SLOW_IMPORT_S = 0.5
"""A plugin module that takes longer than this delays every command, listings included."""

HOOKS = tuple(name for name in vars(hookspecs) if name.startswith("curator_"))
"""Names of all hooks."""
OBSERVER_HOOKS = tuple(hook for hook in HOOKS if hook not in {each.hook for each in DECLARATIONS})
"""The hooks that observe, as against those that declare."""

_MARK = f"{hookspecs.PROJECT}_impl"  # the attribute that pluggy's hookimpl marker sets


class _Refusal(Exception):  # noqa: N818 - never leaves this module
    """The plugin breaks a rule; the message is the cause."""

    def __init__(self, cause: str, *, status: PluginStatus = "broken", fix: str | None = None) -> None:
        super().__init__(cause)
        self.status = status
        self.fix = fix


def load_plugin(candidate: Candidate) -> PluginInfo:
    """Import a plugin module, register it alone, and ask every declaration hook.

    Whatever the plugin raises becomes its status and cause; nothing is raised here.
    """
    info = PluginInfo(candidate)
    heavy_before = HEAVY_MODULES.intersection(sys.modules)
    started = time.perf_counter()
    try:
        # Commands print data on stdout; a plugin that prints while it is imported must not get in between.
        with contextlib.redirect_stdout(sys.stderr):
            module = _import(candidate)
            info = replace(info, module=module, api=_declared_api(module))
            _check_api(info)
            manager = _register(module, candidate.name)
            info = replace(info, manager=manager, specs=_ask(manager))
    except _Refusal as refusal:
        fix = refusal.fix or f"update {candidate.provider}, uninstall it, or report the cause to its author"
        info = info.with_failure(refusal.status, str(refusal), fix=fix, exception=refusal.__cause__)
    heavy = tuple(sorted(HEAVY_MODULES.intersection(sys.modules) - heavy_before))
    info = replace(info, load_s=time.perf_counter() - started, heavy_modules=heavy)
    return replace(info, warning=_warning(info))


def one_line(error: BaseException) -> str:
    """Return an exception's type and the first line of its message.

    >>> one_line(ValueError("bad", 3))
    "ValueError: ('bad', 3)"
    """
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _import(candidate: Candidate) -> types.ModuleType:
    if candidate.error is not None:
        raise _Refusal(f"its metadata cannot be read: {one_line(candidate.error)}") from candidate.error
    if not SNAKE_CASE.fullmatch(candidate.name):
        raise _Refusal(f"the plugin name {candidate.name!r} is not snake_case")
    if not all(part.isidentifier() for part in candidate.value.split(".")):
        raise _Refusal(f"the entry point names {candidate.value!r}, which is not a module")
    try:
        return importlib.import_module(candidate.value)
    except (Exception, SystemExit) as error:  # isolation: a module may raise anything, even try to exit
        raise _Refusal(f"importing {candidate.value} raised {one_line(error)}") from error


def _declared_api(module: types.ModuleType) -> tuple[int, int]:
    match getattr(module, "CURATOR_API", None):
        case (int(major), int(minor)):
            return major, minor
        case None:
            raise _Refusal(f"{module.__name__} does not declare CURATOR_API = {API_VERSION}")
        case other:
            raise _Refusal(f"CURATOR_API is {other!r}, not a pair of whole numbers such as {API_VERSION}")


def _check_api(info: PluginInfo) -> None:
    assert info.api is not None
    if info.api[0] == API_VERSION[0] and info.api[1] <= API_VERSION[1]:
        return
    written, offered = (".".join(map(str, api)) for api in (info.api, API_VERSION))
    older = "curator-core" if info.api > API_VERSION else info.distribution or info.name
    raise _Refusal(
        f"it is written for plugin API {written}, but this curator-core offers {offered}",
        status="incompatible",
        fix=f"pip install --upgrade {older}",
    )


def _register(module: types.ModuleType, name: str) -> pluggy.PluginManager:
    unmarked = [hook for hook in HOOKS if hook in vars(module) and not hasattr(vars(module)[hook], _MARK)]
    if unmarked:
        raise _Refusal(f"{unmarked[0]} in {module.__name__} is not marked with @hookimpl")
    # A manager per plugin: in a shared one, the first hook that raises takes the answers of all others with it.
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(module, name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        # pluggy's first line says which hook, its last one what is wrong with it.
        lines = str(error).splitlines()
        raise _Refusal(_unknown_hook(manager, module) or f"{lines[0]}: {lines[-1]}") from error
    except Exception as error:  # isolation: pluggy looks at every attribute of the module, whatever that may be
        raise _Refusal(f"registering {module.__name__} raised {one_line(error)}") from error
    return manager


def _unknown_hook(manager: pluggy.PluginManager, module: types.ModuleType) -> str | None:
    for caller in manager.get_hookcallers(module) or []:
        if not caller.has_spec():
            hint = "".join(f"; did you mean {each}?" for each in nearest(caller.name, HOOKS)[:1])
            return f"{module.__name__} implements the unknown hook {caller.name}{hint}"
    return None


def _ask(manager: pluggy.PluginManager) -> dict[type, tuple[Any, ...]]:
    specs: dict[type, tuple[Any, ...]] = {}
    for declaration in DECLARATIONS:
        try:
            answers = getattr(manager.hook, declaration.hook)()
        except (Exception, SystemExit) as error:  # isolation: a hook may raise anything, even try to exit
            raise _Refusal(f"{declaration.hook} raised {one_line(error)}") from error
        for answer in answers:
            problem = next(problems_in(answer, declaration), None)
            if problem:
                raise _Refusal(problem)
        specs[declaration.spec_type] = tuple(spec for answer in answers for spec in answer)
    return specs


def _warning(info: PluginInfo) -> str | None:
    if not info.is_ok:
        return None
    assert info.manager is not None
    if not info.manager.get_hookcallers(info.module):
        return "it implements no hook"
    if info.heavy_modules:
        return f"importing its plugin module also imports {', '.join(info.heavy_modules)}"
    if info.load_s > SLOW_IMPORT_S:
        return f"importing its plugin module took {info.load_s:.1f} s"
    return None
