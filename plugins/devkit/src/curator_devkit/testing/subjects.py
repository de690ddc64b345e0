"""The subjects of checks: a plugin, or a stage with an example of its input."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from curator_core.sdk import (
    ROW_COLUMN,
    SOURCE_COLUMN,
    ConfigError,
    MadeOfFunction,
    TableBatch,
    columns_of,
    is_composite,
    parameters_of,
    task_types,
)
from curator_devkit.testing.check import CheckSkipped
from curator_devkit.testing.example import Example, default_table
from curator_devkit.testing.trial import run_stage

if TYPE_CHECKING:
    from curator_core.sdk import PluginInfo, ProcessingStage, RegisteredStage, Registry, Task
    from curator_devkit.testing.example import ExampleSource
    from curator_devkit.testing.trial import Trial

__all__ = ["PluginSubject", "StageSubject"]


class PluginSubject:
    """A plugin under test."""

    def __init__(self, info: PluginInfo, registry: Registry) -> None:
        self.info = info
        self.registry = registry
        self.label = info.name

    @property
    def stages(self) -> list[RegisteredStage]:
        """The stages it declares."""
        return [each for each in self.registry.stages.values() if each.plugin.name == self.info.name]

    def require_loaded(self) -> None:
        """Skip the check when the plugin could not be loaded; another check fails for that."""
        if not self.info.is_ok:
            raise CheckSkipped(f"the plugin is {self.info.status}")


class StageSubject:
    """A stage under test. Checks that need an example are skipped without one.

    Args:
        target: The stage, or its class.
        registered: Its entry in the registry, where it has one.
        example: Input for it, and the stage that suits it.
        registry: Where its name is looked up, if it has an entry there.
        example_required: Whether it is a failure that no example is given where one is needed.
    """

    def __init__(
        self,
        target: ProcessingStage[Any, Any] | type[ProcessingStage[Any, Any]],
        *,
        registered: RegisteredStage | None = None,
        example: ExampleSource | None = None,
        registry: Registry | None = None,
        example_required: bool = True,
    ) -> None:
        self._target = type(target) if isinstance(target, MadeOfFunction) else target
        self._example_source = example
        self.registered = registered
        self.example_required = example_required
        self.label = registered.full_name if registered else self.stage_class.__name__
        self.registry = registry

    @property
    def stage_class(self) -> type[ProcessingStage[Any, Any]]:
        """The class of the stage."""
        return self._target if isinstance(self._target, type) else type(self._target)

    @cached_property
    def example(self) -> Example:
        """The author's example; empty where there is none."""
        source = self._example_source
        return Example() if source is None else source() if callable(source) else source

    @cached_property
    def stage(self) -> ProcessingStage[Any, Any]:
        """The stage: of the example, or made with default parameters."""
        return self.example.stage or self.default_stage

    @cached_property
    def default_stage(self) -> ProcessingStage[Any, Any]:
        """The stage made with default parameters, or given ready-made."""
        if not isinstance(self._target, type):
            return self._target
        required = [each.name for each in parameters_of(self._target).values() if each.required]
        if required:
            raise CheckSkipped(f"needs Example(stage=...): {', '.join(required)} has no default")
        try:
            return self._target()
        except ConfigError as error:
            raise CheckSkipped(f"needs Example(stage=...): {error.message}") from error

    @cached_property
    def tasks(self) -> list[Task[Any]]:
        """The input: of the example, or a table of awkward text for stages that work row by row."""
        if self.example.tasks is not None:
            return list(self.example.tasks)
        taken = task_types(self.stage)[0]
        if not self.stage.row_wise or not (
            taken is Any or issubclass(TableBatch, taken) or issubclass(taken, TableBatch)
        ):
            raise CheckSkipped("needs Example(tasks=...): its input cannot be guessed")
        is_table = isinstance(taken, type) and issubclass(taken, TableBatch)
        return [default_table(self.stage, taken if is_table else TableBatch)]

    @cached_property
    def reference(self) -> Trial:
        """The output of the stage for the example."""
        return run_stage(self.stage, self.tasks)

    @property
    def tables(self) -> list[TableBatch]:
        """The input, for checks of stages that take tables."""
        tables = [task for task in self.tasks if isinstance(task, TableBatch)]
        if not tables or is_composite(self.stage):
            raise CheckSkipped("does not take tables")
        return tables

    @property
    def read_columns(self) -> list[str]:
        """Columns the stage reads, apart from provenance; skips the check when there are none."""
        columns = [each for each in columns_of(self.stage.inputs()) if each not in (SOURCE_COLUMN, ROW_COLUMN)]
        if not columns:
            raise CheckSkipped("reads no columns")
        return columns

    def require_registered(self) -> RegisteredStage:
        """Skip the check for a stage that no plugin declares."""
        if self.registered is None:
            raise CheckSkipped("is not registered")
        return self.registered
