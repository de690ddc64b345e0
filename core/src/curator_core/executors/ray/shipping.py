"""Send stages to worker processes, and errors back: what pickle alone gets wrong about either."""

from __future__ import annotations

import inspect
import io
import os
import pickle
import sys
import traceback
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from curator_core.authoring.function_stage import MadeOfFunction
from curator_core.authoring.tasks import Task
from curator_core.values.errors import CuratorError, PipelineError, StageError

if TYPE_CHECKING:
    from curator_core.authoring.stage import ProcessingStage

__all__ = [
    "PackedError",
    "PackedStage",
    "driver_search_path",
    "dumps",
    "dumps_readable",
    "pack_error",
    "pack_stage",
]


_PLAIN_MODULES = frozenset(("pyarrow.lib", "curator_core.executors.streaming.shell.chunk_codec"))
"""Modules of types whose objects can always be read back."""


@dataclass(frozen=True)
class PackedStage:
    """A stage on its way to a worker.

    Args:
        name: Name of the stage, for errors.
        payload: The pickled stage.
        search_path: Where the driver finds modules; appended to the worker's own path.
    """

    name: str
    payload: bytes
    search_path: tuple[str, ...]

    def unpack(self) -> ProcessingStage[Any, Any]:
        """Return the stage, in a worker.

        Raises:
            StageError: The worker lacks a module that the stage needs.
        """
        sys.path.extend(path for path in self.search_path if path not in sys.path)
        try:
            stage: ProcessingStage[Any, Any] = pickle.loads(self.payload)  # noqa: S301 - written by our own driver
        except Exception as error:
            raise StageError(
                f"stage {self.name!r} could not be loaded in a worker: {type(error).__name__}: {error}",
                fix="install the package that defines it on every machine of the cluster",
            ) from error
        return stage


def pack_stage(stage: ProcessingStage[Any, Any]) -> PackedStage:
    """Make a stage ready to travel.

    Raises:
        PipelineError: It holds something that cannot leave this process; the attribute is named.
    """
    try:
        payload = dumps(stage)
    except Exception as error:
        raise PipelineError(
            f"stage {stage.name!r} cannot be sent to workers{_culprit(stage)}: {error}",
            fix="keep only parameters in the constructor; open files, locks, models and connections in setup()",
        ) from error
    return PackedStage(stage.name, payload, driver_search_path())


def driver_search_path() -> tuple[str, ...]:
    """Return where this process finds modules, as absolute paths; Python's ``""`` is the current folder."""
    return tuple(os.path.abspath(path) for path in sys.path)  # noqa: PTH100 - strings go in and out


def dumps(value: Any) -> bytes:
    """Pickle a value for a worker; classes and functions of modules that a worker cannot import travel along."""
    file = io.BytesIO()
    pickler_class()(file, protocol=5).dump(value)
    return file.getvalue()


def dumps_readable(value: Any, buffers: list[pickle.PickleBuffer] | None = None, *, by_value: bool = True) -> bytes:
    """Pickle tasks for another process, and check that it can read them.

    Some objects, exceptions above all, can be pickled and then cannot be made again, so they are unpickled on trial.
    Plain values, tables and tasks that hold nothing else always can, and are not tried.

    Args:
        value: What to pickle.
        buffers: Gets the large buffers, which are then no part of the bytes.
        by_value: Whether classes may have to travel too, because the other side cannot import them.

    Raises:
        Exception: The value cannot be pickled, or whatever the process that reads it would meet.
    """
    file = io.BytesIO()
    callback = None if buffers is None else buffers.append
    pickler = _noting(pickler_class() if by_value else pickle.Pickler)(file, protocol=5, buffer_callback=callback)
    pickler.dump(value)
    pickled = file.getvalue()
    if pickler.met_objects:
        pickle.loads(pickled, buffers=buffers)  # noqa: S301 - written by this process
    return pickled


@lru_cache(maxsize=2)
def _noting(pickler: Any) -> Any:
    """Return a pickler that notes whether it met objects that might not be read back."""

    class NotingPickler(pickler):  # type: ignore[misc]
        met_objects = False

        def reducer_override(self, value: Any) -> Any:
            """Return what the pickler does with a value of a type that pickle itself does not know."""
            self.met_objects = self.met_objects or not _is_plain(value)
            override = getattr(super(), "reducer_override", None)
            return NotImplemented if override is None else override(value)

    return NotingPickler


def _is_plain(value: Any) -> bool:
    """Return whether a value is read back if what it holds is: classes and functions go by their names."""
    kind = type(value)
    if isinstance(value, (Task, type, FunctionType, BuiltinFunctionType)):
        return True
    return kind.__module__ in _PLAIN_MODULES or kind.__name__ == "cython_function_or_method"


@dataclass(frozen=True)
class PackedError:
    """An error of a worker on its way to the driver.

    Args:
        payload: The pickled error and its cause; None where they cannot be pickled.
        summary: Type and message.
        trace: The traceback as text; pickle drops it.
    """

    payload: bytes | None
    summary: str
    trace: str

    def unpack(self) -> CuratorError:
        """Return the error as the worker raised it, with the worker's traceback as its last cause."""
        remote = _WorkerTraceback(self.trace)
        if self.payload is None:
            error: CuratorError = StageError(self.summary)
            error.__cause__ = remote
            return error
        error, cause = pickle.loads(self.payload)  # noqa: S301 - written by our own worker
        error.__cause__ = cause if cause is not None else remote
        if cause is not None:
            cause.__cause__ = remote
        return error


def pack_error(error: Exception) -> PackedError:
    """Make an error ready to travel."""
    kept = error if isinstance(error, CuratorError) else StageError(f"{type(error).__name__}: {error}")
    cause = error.__cause__ if kept is error else error
    try:
        payload = dumps((kept, cause))
        pickle.loads(payload)  # noqa: S301 - some exceptions pickle and then cannot be made again
    except Exception:  # noqa: BLE001 - exceptions of any library; their text remains
        payload = None
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return PackedError(payload, str(kept), trace)


class _WorkerTraceback(Exception):  # noqa: N818 - shown as a cause, never raised on its own
    """Shows where in a worker an error was raised."""

    def __str__(self) -> str:
        return f"in a worker:\n{self.args[0]}"


@lru_cache(maxsize=1)
def pickler_class() -> Any:
    """Return cloudpickle's pickler, taught to send along what a worker cannot import."""
    from ray import cloudpickle as untyped

    cloudpickle: Any = untyped

    class TravellingPickler(cloudpickle.CloudPickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, (type, FunctionType)):
                module = sys.modules.get(value.__module__ or "")
                if module is not None and not _workers_can_import(module.__name__):
                    cloudpickle.register_pickle_by_value(module)
            return super().reducer_override(value)

    return TravellingPickler


@lru_cache(maxsize=4096)
def _workers_can_import(name: str) -> bool:
    """Return whether a module would be found by its name, and would be the one loaded here."""
    module = sys.modules.get(name)
    origin = getattr(module, "__file__", None)
    if name.partition(".")[0] in {*sys.stdlib_module_names, "__main__"}:
        return True  # there in every Python, or sent by value by cloudpickle itself
    if not isinstance(module, ModuleType) or origin is None:
        return True
    path: Any = None
    spec = None
    for part in accumulate(name.split("."), "{}.{}".format):
        finders = (finder.find_spec(part, path) for finder in sys.meta_path if hasattr(finder, "find_spec"))
        spec = next((found for found in finders if found is not None), None)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return spec is not None and spec.origin == origin


def _culprit(stage: ProcessingStage[Any, Any]) -> str:
    """Say which attribute cannot be pickled, and for a function which of the names it uses."""
    function = {"function": stage.function} if isinstance(stage, MadeOfFunction) else {}
    for attribute, value in {**vars(stage), **function}.items():
        if _travels(value):
            continue
        if isinstance(value, FunctionType):
            used = inspect.getclosurevars(value)
            for name, inner in {**used.globals, **used.nonlocals}.items():
                if not _travels(inner):
                    return f" because of {name!r}, a {type(inner).__name__} that its function uses"
        return f" because of its attribute {attribute!r}, a {type(value).__name__}"
    return ""


def _travels(value: Any) -> bool:
    try:
        dumps(value)
    except Exception:  # noqa: BLE001 - only whether it works is asked
        return False
    return True
