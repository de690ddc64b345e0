"""What `build` finds before anything runs."""

from dataclasses import dataclass

import pytest

from curator_core import (
    CompositeStage,
    EmptyTask,
    FileGroupTask,
    Filter,
    Pipeline,
    ProcessingStage,
    Resources,
    TableBatch,
    Task,
    Verdict,
    processing_stage,
)
from curator_core.authoring.stage_types import task_types
from curator_core.plan.planner import build_plan, decompose
from curator_core.values.errors import CuratorError, PipelineError, UnknownNameError


class Source(ProcessingStage[EmptyTask, TableBatch]):
    """A reader that knows its columns only after looking."""

    def __init__(self, columns=("body", "id"), *, knows=True) -> None:
        self.columns = columns
        self.knows = knows

    def preflight(self):
        return self.columns if self.knows else None

    def process(self, task):
        return TableBatch(data={column: ["x"] for column in self.columns})


class Needs(ProcessingStage[TableBatch, TableBatch]):
    def __init__(self, column: str, adds: str | None = None) -> None:
        self.column = column
        self.adds = adds

    def inputs(self):
        return [self.column]

    def outputs(self):
        return [self.adds] if self.adds else []

    def process(self, task):
        return task


class Write(ProcessingStage[TableBatch, FileGroupTask]):
    def process(self, task):
        return FileGroupTask(data=["f"])


def test_a_missing_column_is_found_before_running_with_the_nearest_name():
    pipeline = Pipeline("p", stages=[Source(("texts", "id")), Needs("text")])
    with pytest.raises(PipelineError, match=r"'Needs' reads column 'text'.*there is: id, texts.*did you mean 'texts'"):
        pipeline.build()


def test_a_column_that_is_produced_too_late_names_the_stage_to_move():
    stages = [Source(), Needs("score"), Needs("body", adds="score").with_(name="scorer")]
    with pytest.raises(PipelineError, match=r"move 'scorer', which adds 'score', before it"):
        Pipeline("p", stages=stages).build()


def test_columns_added_on_the_way_are_known():
    plan = Pipeline("p", stages=[Source(), Needs("body", adds="score"), Needs("score").with_(name="b")]).build()
    assert plan.stages[-1].columns == ("body", "id", "score")
    assert plan.stages[1].adds == ("score",)


def test_an_open_schema_is_given_the_benefit_of_the_doubt():
    Pipeline("p", stages=[Source(knows=False), Needs("anything")]).build()
    Pipeline("p", stages=[Source(), Needs("anything")]).build(check_inputs=False)


def test_columns_in_the_form_of_attributes_and_columns_are_understood():
    class Pair(Needs):
        def inputs(self):
            return ["data"], ["text"]

    with pytest.raises(PipelineError, match="'text'"):
        Pipeline("p", stages=[Source(), Pair("text")]).build()


def test_a_stage_that_takes_another_kind_of_task_is_found():
    with pytest.raises(PipelineError, match=r"'Needs' takes TableBatch, but 'Write' before it makes FileGroupTask"):
        Pipeline("p", stages=[Source(), Write(), Needs("x")]).build()


def test_batches_of_other_modalities_are_tables_too():
    class ImageBatch(TableBatch):
        pass

    class Images(Source, ProcessingStage[EmptyTask, ImageBatch]):
        pass

    class Text(TableBatch):
        pass

    class ForText(ProcessingStage[Text, Text]):
        def process(self, task):
            return task

    Pipeline("p", stages=[Images(), ForText()]).build()


def test_two_stages_of_one_name_are_told_how_to_differ():
    with pytest.raises(PipelineError, match=r"more than one stage called 'Needs'[\s\S]*with_\(name"):
        Pipeline("p", stages=[Source(), Needs("id"), Needs("body")]).build()


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (Needs("id").with_(batch_size=0), "batch_size must be a whole number of at least 1, got 0"),
        (Needs("id").with_(min_workers=3, max_workers=2), "min_workers must be at most max_workers, got 3 and 2"),
    ],
)
def test_impossible_options_are_found(stage, message):
    with pytest.raises(PipelineError, match=message):
        Pipeline("p", stages=[Source(), stage]).build()


def test_what_is_not_a_stage_cannot_be_added():
    with pytest.raises(PipelineError, match=r"Source is not a stage[\s\S]*call the class"):
        Pipeline("p").add_stage(Source)
    with pytest.raises(PipelineError, match="has no stages"):
        Pipeline("p").build()

    class Nothing(ProcessingStage):
        pass

    with pytest.raises(PipelineError, match="neither process nor process_batch"):
        Pipeline("p", stages=[Nothing()]).build()


class ReadAndCheck(CompositeStage[EmptyTask, TableBatch]):
    def __init__(self) -> None: ...

    def decompose(self):
        return [Source().with_(name="ReadAndCheck.source"), Needs("id").with_(name="ReadAndCheck")]


def test_composites_are_replaced_by_their_parts():
    plan = Pipeline("p", stages=[ReadAndCheck()]).build()
    assert [planned.stage.name for planned in plan.stages] == ["ReadAndCheck.source", "ReadAndCheck"]


def test_options_of_a_composite_go_to_the_part_that_bears_its_name():
    source, main = decompose(ReadAndCheck().with_(resources=Resources(cpus=4)))
    assert (source.resources.cpus, main.resources.cpus) == (1, 4)


@dataclass
class Below(Filter):
    limit: int = 10

    def judge(self, batch):
        numbers = batch.series("n")
        return Verdict(numbers, {"too_large": numbers >= self.limit})


class ReadAndFilter(CompositeStage[EmptyTask, TableBatch]):
    """Parts of which only some are filters, and none has its name."""

    def decompose(self):
        return [Source(["n"]).with_(name="source"), Below(8).with_(name="low"), Below(9).with_(name="high")]


def test_options_of_filters_go_to_the_filters_of_a_composite():
    source, low, high = decompose(ReadAndFilter().with_(save_dropped=True, max_attempts=2))
    assert (low.save_dropped, high.save_dropped) == (True, True)
    assert [part.max_attempts for part in (source, low, high)] == [2, 2, 2]


def test_single_parts_of_a_composite_can_be_changed():
    parts = {"low": {"limit": "5", "invert": True}, "source": {"batch_size": 4}}
    source, low, high = decompose(ReadAndFilter().with_(parts=parts, save_dropped=True))
    assert (source.batch_size, high.limit, high.invert) == (4, 9, False)
    assert (low.name, low.limit, low.invert, low.save_dropped) == ("low", 5, True, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": {"hihg": {"limit": 3}}}, r"unknown part of 'ReadAndFilter': 'hihg'; did you mean 'high'"),
        ({"parts": {"low": {"limt": 3}}}, r"limt"),
        ({"parts": {"low": {"limit": "many"}}}, r"many"),
    ],
)
def test_parts_and_their_parameters_are_checked(options, message):
    with pytest.raises(CuratorError, match=message):
        decompose(ReadAndFilter().with_(**options))


def test_an_option_that_no_part_has_is_refused():
    with pytest.raises(PipelineError, match="no part of 'ReadAndCheck' has the option 'save_dropped'"):
        decompose(ReadAndCheck().with_(save_dropped=True))


def test_a_renamed_composite_renames_its_parts():
    stages = [ReadAndCheck().with_(name="first"), Write()]
    names = [planned.stage.name for planned in Pipeline("p", stages=stages).build().stages]
    assert names == ["first.source", "first", "Write"]


def test_options_are_checked_by_name():
    with pytest.raises(UnknownNameError, match=r"'batchsize'; did you mean 'batch_size'"):
        Needs("x").with_(batchsize=3)


def test_task_types_are_read_from_generics_and_annotations():
    class Base(ProcessingStage[Task, TableBatch]):
        def process(self, task):
            return TableBatch()

    class Derived(Base):
        pass

    @processing_stage(name="f")
    def function(task: TableBatch) -> list[FileGroupTask] | None:
        return None

    assert task_types(Derived()) == (Task, TableBatch)
    assert task_types(function) == (TableBatch, FileGroupTask)


def test_the_plan_can_be_read():
    text = build_plan(Pipeline("p", stages=[Source(), Needs("body", adds="score"), Write()])).describe()
    assert "1. Source  [EmptyTask -> TableBatch]  cpus=1" in text
    assert "adds    score" in text
