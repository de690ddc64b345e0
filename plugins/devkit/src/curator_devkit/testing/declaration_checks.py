"""Rules for the declarations of a stage, before it processes anything. Every function here is a check."""

from __future__ import annotations

import inspect
import pickle
from typing import TYPE_CHECKING, Any

from curator_core.sdk import (
    MadeOfFunction,
    Pipeline,
    Resources,
    build_stage,
    columns_of,
    is_composite,
    parameter_values,
    parameters_of,
)
from curator_core.specs import StageSpec
from curator_devkit.testing.check import CheckSkipped, require
from curator_devkit.testing.comparison import task_difference
from curator_devkit.testing.fresh_import import modules_loaded_by
from curator_devkit.testing.trial import run_stage

if TYPE_CHECKING:
    from curator_devkit.testing.subjects import StageSubject

_MODEL_PACKAGES = frozenset({"jax", "onnxruntime", "ray", "tensorflow", "torch", "transformers", "vllm"})


def check_docstring_present(subject: StageSubject) -> None:
    """A stage's class has a docstring; documentation and `curator stages show` are made from it."""
    cls = subject.stage_class
    text = cls.__doc__
    generated = hasattr(cls, "__dataclass_fields__") and (text or "").startswith(f"{cls.__name__}(")
    require(text and not generated, f"{cls.__name__} has no docstring", fix="say what it does, and its Args")


def check_parameters_have_types(subject: StageSubject) -> None:
    """Every parameter of the constructor has a type, which is its configuration schema."""
    for parameter in parameters_of(subject.stage_class).values():
        declared = inspect.signature(subject.stage_class).parameters[parameter.name].annotation
        require(
            declared is not inspect.Parameter.empty,
            f"parameter {parameter.name!r} has no type",
            fix=f"annotate it, e.g. {parameter.name}: int",
        )
        require(
            parameter.annotation is not Any or declared in (Any, "Any", "typing.Any"),
            f"the type {declared!r} of parameter {parameter.name!r} cannot be resolved at run time",
            fix="import the type outside of `if TYPE_CHECKING`",
        )


def check_parameters_have_schema(subject: StageSubject) -> None:
    """Every parameter's type has a JSON schema, for editors and for checking pipeline files."""
    for parameter in parameters_of(subject.stage_class).values():
        problem = _schema_problem(parameter.annotation)
        require(
            not problem,
            f"the type of parameter {parameter.name!r} has no schema: {problem}",
            fix="use numbers, text, lists, mappings, literals or dataclasses",
        )


def check_constructor_only_stores_parameters(subject: StageSubject) -> None:
    """A constructor stores its parameters under their own names, so that a stage can be copied and written down."""
    stage = subject.stage
    params = parameter_values(stage)  # raises, with the fix, where one is not kept
    twin = subject.stage_class(**params)
    for name, value in params.items():
        require(
            _same(getattr(twin, name), value),
            f"{name}={value!r} was given, but {getattr(twin, name)!r} is stored",
            fix=f"store {name} as it is, and compute what depends on it in setup()",
        )


def check_default_name_matches_registry(subject: StageSubject) -> None:
    """A stage is called the same in statistics and in pipeline files."""
    registered = subject.require_registered()
    require(
        subject.stage.name == registered.full_name,
        f"its name is {subject.stage.name!r}, but pipelines call it {registered.full_name!r}",
        fix=f'write name = "{registered.full_name}" in the class',
    )


def check_inputs_outputs_declared(subject: StageSubject) -> None:
    """inputs() and outputs() return lists of distinct column names, without set-up."""
    for what in ("inputs", "outputs"):
        declared = getattr(subject.stage, what)()
        require(
            not isinstance(declared, str), f"{what}() returned the string {declared!r}", fix="return a list of names"
        )
        columns = columns_of(declared)
        require(
            all(isinstance(each, str) and each for each in columns) and len(set(columns)) == len(columns),
            f"{what}() returned {declared!r}",
            fix="return a list of distinct column names",
        )


def check_produces_matches_outputs(subject: StageSubject) -> None:
    """The columns that the spec says are produced are those that outputs() names for default parameters."""
    registered = subject.require_registered()
    if any(each.required for each in parameters_of(subject.stage_class).values()):
        raise CheckSkipped("has no default parameters")
    outputs = columns_of(subject.default_stage.outputs())
    require(
        sorted(registered.spec.produces) == sorted(outputs),
        f"the spec has produces={registered.spec.produces}, but outputs() returns {outputs}",
        fix=f"write produces={tuple(outputs)!r} in the StageSpec",
    )


def check_resources_valid(subject: StageSubject) -> None:
    """Resources are a Resources value, and batch_size a whole number of at least one."""
    stage = subject.stage
    require(isinstance(stage.resources, Resources), f"resources is {stage.resources!r}", fix="use Resources(cpus=1)")
    require(
        isinstance(stage.batch_size, int) and stage.batch_size >= 1,
        f"batch_size is {stage.batch_size!r}",
        fix="use a whole number of at least 1",
    )


def check_copy_with_options(subject: StageSubject) -> None:
    """with_() returns a changed copy and leaves the stage as it was."""
    stage = subject.stage
    before = (stage.name, stage.resources, stage.batch_size)
    resources = Resources(cpus=2)
    twin = stage.with_(name="other", resources=resources, batch_size=7)
    require(
        (twin.name, twin.resources, twin.batch_size) == ("other", resources, 7) and type(twin) is type(stage),
        "with_() does not change the options in its copy",
        fix="do not override with_ or the options it sets",
    )
    require(
        before == (stage.name, stage.resources, stage.batch_size),
        "with_() changed the stage itself",
        fix="do not share mutable state between a stage and its copies",
    )


def check_composite_decomposes(subject: StageSubject) -> None:
    """A composite stands for at least one stage, with distinct names."""
    if not is_composite(subject.stage):
        raise CheckSkipped("is not a composite")
    names = [part.name for part in subject.stage.decompose()]
    require(
        names and len(set(names)) == len(names),
        f"decompose() returned stages called {names}",
        fix="return at least one stage, each with its own name",
    )


def check_picklable(subject: StageSubject) -> None:
    """A stage travels to other processes by pickle and does the same there."""
    if issubclass(subject.stage_class, MadeOfFunction):
        raise CheckSkipped("is made of a function, which executors send by value")
    twin = pickle.loads(pickle.dumps(subject.stage))  # noqa: S301 - our own bytes
    require(twin.name == subject.stage.name, "its name is lost by pickling", fix="do not override __reduce__")
    difference = task_difference(subject.reference.outputs, run_stage(twin, subject.tasks).outputs)
    require(not difference, f"after pickling it makes {difference}", fix="keep all state in attributes that pickle")


def check_yaml_round_trip(subject: StageSubject) -> None:
    """A stage written to a pipeline file and read back has the same parameters."""
    stage = subject.stage
    params = parameter_values(stage)
    if subject.registered is None:
        again = build_stage(subject.stage_class, stage.name, params)
    else:
        text = Pipeline("check", stages=[stage]).to_yaml(registry=subject.registry)
        (again,) = Pipeline.from_yaml(text, registry=subject.registry).stages
    for name, value in parameter_values(again).items():
        require(
            _same(value, params[name]),
            f"{name}={params[name]!r} came back as {value!r}",
            fix="use parameter types that YAML holds: text, numbers, lists, mappings, dataclasses",
        )


def check_heavy_imports_declared(subject: StageSubject) -> None:
    """A stage's module imports model packages on import only where the spec requires them."""
    registered = subject.require_registered()
    module = registered.spec.target.partition(":")[0]
    siblings = [spec.target.partition(":")[0] for spec in registered.plugin.specs[StageSpec]]
    loaded = modules_loaded_by(module, tuple(siblings))
    undeclared = sorted(_MODEL_PACKAGES & loaded - set(registered.spec.requires))
    require(
        not undeclared,
        f"importing {module} also imports {', '.join(undeclared)}, which the spec does not require",
        fix="import them in setup(), or add them to requires and to an extra",
    )


def _schema_problem(annotation: Any) -> str | None:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        TypeAdapter(annotation).json_schema()
    except PydanticUserError as error:
        return error.message
    return None


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - arrays and the like refuse to be compared as a whole
        return pickle.dumps(one) == pickle.dumps(other)
