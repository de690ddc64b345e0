"""Check a pipeline and lay it out as a plan: decompose composites, check names, types and columns."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.authoring.file_reader import is_composite
from curator_core.authoring.stage import ProcessingStage, columns_of
from curator_core.authoring.stage_types import is_known, is_table, task_types
from curator_core.authoring.tasks import EmptyTask
from curator_core.plan.plan import Plan, PlannedStage
from curator_core.values.errors import CuratorError, PipelineError, UnknownNameError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curator_core.pipelines.pipeline import Pipeline
    from curator_core.registry import Registry

__all__ = ["build_plan", "check_first_stage", "decompose"]


def build_plan(pipeline: Pipeline, *, check_inputs: bool = True) -> Plan:
    """Return the plan of a pipeline, or raise the first thing that is wrong with it."""
    if not pipeline.stages:
        raise PipelineError(f"pipeline {pipeline.name!r} has no stages", fix="add one with add_stage()")
    stages = [part for stage in pipeline.stages for part in decompose(stage)]
    for name, count in Counter(stage.name for stage in stages).items():
        if count > 1:
            raise PipelineError(
                f"pipeline {pipeline.name!r} has more than one stage called {name!r}",
                stage=name,
                fix=f'name one of them: .with_(name="{name}_2"), in YAML `with: {{name: {name}_2}}`',
            )
    for stage in stages:
        _check_stage(pipeline, stage)
    planned = _flow(pipeline, stages, check_inputs=check_inputs)
    return Plan(pipeline, tuple(planned))


def check_first_stage(plan: Plan) -> None:
    """Check that a plan makes its own tasks, for a run to which none are given.

    Raises:
        PipelineError: Its first stage takes tasks of another stage.
    """
    first = plan.stages[0]
    if is_known(first.input_type) and not issubclass(EmptyTask, first.input_type):
        raise PipelineError(
            f"pipeline {plan.pipeline_name!r}: the first stage, {first.stage.name!r}, takes tasks, "
            "and there is no stage before it that makes any",
            stage=first.stage.name,
            fix="begin with a reader (curator stages list --kind reader), or in Python give initial_tasks",
        )


def decompose(stage: ProcessingStage[Any, Any]) -> list[ProcessingStage[Any, Any]]:
    """Replace a composite by its parts, down to stages that are not composite.

    Options given to the composite go to the part that bears its name, or to every part where none does; a new name
    replaces the old one in the names of all parts. ``parts`` says what is different for single ones.

    Raises:
        PipelineError: No part has an option.
        UnknownNameError: There is no part of a name.
    """
    if not is_composite(stage):
        return [stage]
    parts = [part for each in stage.decompose() for part in decompose(each)]
    old, new = type(stage).name, stage.name
    parts = [_renamed(part, old, new) for part in parts]
    options = {name: value for name, value in stage.overrides.items() if name not in ("name", "parts")}
    main = [part for part in parts if part.name == new] or parts
    for name in options:
        if not any(name in part.options for part in parts):
            raise PipelineError(f"no part of {new!r} has the option {name!r}", stage=new, fix="leave it out")
    parts = [_with_supported(part, options, main) for part in parts]
    changes = getattr(stage, "parts", None) or {}
    names = [part.name for part in parts]
    unknown = [name for name in changes if name not in names]
    if unknown:
        raise UnknownNameError(f"part of {new!r}:", unknown[0], names, fix=f"its parts: {', '.join(names)}")
    return [_changed(part, changes.get(part.name, {})) for part in parts]


def _renamed(part: ProcessingStage[Any, Any], old: str, new: str) -> ProcessingStage[Any, Any]:
    has_new_name = part.name == new or part.name.startswith(f"{new}.")  # the composite has named it by its own
    is_named_after_it = part.name == old or part.name.startswith(f"{old}.")
    return part.with_(name=new + part.name[len(old) :]) if is_named_after_it and not has_new_name else part


def _with_supported(
    part: ProcessingStage[Any, Any], options: dict[str, Any], main: Sequence[ProcessingStage[Any, Any]]
) -> ProcessingStage[Any, Any]:
    """Give a part the options that it has, unless they are for others: for the main parts, where one has them."""
    supported = {
        name: value
        for name, value in options.items()
        if name in part.options and (part in main or not any(name in each.options for each in main))
    }
    return part.with_(**supported) if supported else part


def _changed(part: ProcessingStage[Any, Any], values: Mapping[str, Any]) -> ProcessingStage[Any, Any]:
    """Return a part with other options, or made anew with other parameters."""
    from curator_core.parameters.params import build_stage, parameter_values
    from curator_core.parameters.signature import parameters_of

    if not values:
        return part
    params = {name: value for name, value in values.items() if name in parameters_of(type(part))}
    options = {name: value for name, value in values.items() if name not in params}
    if not params:
        return part.with_(**options)
    params = parameter_values(part, with_defaults=False) | params
    return build_stage(type(part), part.name, params, part.overrides | options)


def _check_stage(pipeline: Pipeline, stage: ProcessingStage[Any, Any]) -> None:
    where = f"pipeline {pipeline.name!r}: stage {stage.name!r}"
    kind = type(stage)
    if kind.process is ProcessingStage.process and kind.process_batch is ProcessingStage.process_batch:
        raise PipelineError(f"{where} defines neither process nor process_batch", stage=stage.name)
    if not isinstance(stage.batch_size, int) or stage.batch_size < 1:
        raise PipelineError(
            f"{where}: batch_size must be a whole number of at least 1, got {stage.batch_size!r}", stage=stage.name
        )
    low, high = stage.min_workers, stage.max_workers
    if low is not None and high is not None and low > high:
        raise PipelineError(f"{where}: min_workers must be at most max_workers, got {low} and {high}", stage=stage.name)


@dataclass
class _Known:
    """What is known about the tasks between two stages."""

    columns: frozenset[str] = frozenset()
    complete: bool = False  # whether `columns` are all there are
    task_type: Any = Any
    made_by: str = ""


def _flow(pipeline: Pipeline, stages: Sequence[ProcessingStage[Any, Any]], *, check_inputs: bool) -> list[PlannedStage]:
    """Follow types and columns from the first stage to the last."""
    known = _Known()
    planned: list[PlannedStage] = []
    if check_inputs:
        from curator_core.authoring.own_output import check_own_output

        with _errors_of(f"pipeline {pipeline.name!r}"):
            check_own_output(stages)
    for position, stage in enumerate(stages):
        taken, made = task_types(stage)
        reads = columns_of(stage.inputs())
        _check_types(pipeline, stage, taken, known)
        _check_columns(pipeline, stage, reads, known, later=stages[position + 1 :])
        # Every stage may check itself; only one that makes rows from something else knows all of their columns.
        found: Sequence[str] | None = None
        if check_inputs:
            with _errors_of(f"pipeline {pipeline.name!r}: stage {stage.name!r}", stage):
                found = stage.preflight()
        with _errors_of(f"pipeline {pipeline.name!r}", stage):
            stage.check_new_columns(known.columns)
        adds = columns_of(stage.outputs())
        columns, complete = stage.columns_after(known.columns), known.complete
        if found is not None:
            columns, complete = frozenset(found) | frozenset(adds), True
        elif is_known(made) and not is_table(made):
            columns, complete = frozenset(), False
        shown = tuple(sorted(columns)) if complete or columns else None
        planned.append(PlannedStage(stage, taken, made, tuple(reads), tuple(adds), shown))
        known = _Known(columns, complete, known.task_type if made is Any else made, stage.name)
    return planned


@contextmanager
def _errors_of(what: str, stage: ProcessingStage[Any, Any] | None = None) -> Iterator[None]:
    """Say of which pipeline and stage an error is."""
    try:
        yield
    except CuratorError as error:
        name = None if stage is None else stage.name
        raise PipelineError(f"{what}: {error.message}", stage=name, fix=error.fix) from error


def _check_types(pipeline: Pipeline, stage: ProcessingStage[Any, Any], taken: Any, known: _Known) -> None:
    given = known.task_type
    if not (is_known(taken) and is_known(given)):
        return
    # A stage for a modality's batch runs on any table: modalities are tables that differ in their columns only.
    if not (is_table(taken) and is_table(given)) and not issubclass(given, taken):
        raise PipelineError(
            f"pipeline {pipeline.name!r}: stage {stage.name!r} takes {taken.__name__}, "
            f"but {known.made_by!r} before it makes {given.__name__}",
            stage=stage.name,
            fix="put a stage between them that turns one into the other, or change their order",
        )


def _check_columns(
    pipeline: Pipeline,
    stage: ProcessingStage[Any, Any],
    reads: Sequence[str],
    known: _Known,
    *,
    later: Sequence[ProcessingStage[Any, Any]],
) -> None:
    missing = [column for column in reads if column not in known.columns]
    if not missing or not known.complete:
        return
    column = missing[0]
    have = sorted(known.columns)
    close = nearest(column, have)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise PipelineError(
        f"pipeline {pipeline.name!r}: stage {stage.name!r} reads column {column!r}, "
        f"which nothing before it provides (there is: {', '.join(have) or 'no column'}){hint}",
        stage=stage.name,
        fix=_fix_for(column, later, pipeline.registry),
    )


def _fix_for(column: str, later: Sequence[ProcessingStage[Any, Any]], registry: Registry) -> str:
    """Say which stage could provide a column: one that comes too late, or one that is installed."""
    for stage in later:
        if column in columns_of(stage.outputs()):
            return f"move {stage.name!r}, which adds {column!r}, before it"
    producers = registry.producers_of(column)
    if producers:
        return f"add a stage that provides it: {', '.join(producers)}"
    return "name the right column, or add a stage that provides it"
