"""Every check of the kit fails for a stage that breaks its rule, and says how to repair it."""

import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl
import pytest

from curator_core import CompositeStage, Filter, ProcessingStage, TableBatch, Task, Verdict, processing_stage
from curator_core.authoring.recording import report
from curator_devkit.testing import all_checks, check_stage


@dataclass
class Good(Filter):
    """Drop short texts."""

    min_chars: int = 3
    text_column: str = "text"
    name = "toy.good"
    thread_safe: ClassVar[bool] = True

    def judge(self, batch):
        length = batch.text(self.text_column).str.len_chars()
        return Verdict(length, {"too_short": length < self.min_chars})


@dataclass
class TableStage(ProcessingStage[TableBatch, TableBatch]):
    """Return the batch as it is."""

    row_wise: ClassVar[bool] = True

    def inputs(self):
        return ["text"]

    def process(self, task):
        task.text("text")
        return task


@dataclass
class NoDocstring(Good):
    pass


class UntypedParameter(Good):
    """Has a parameter without a type."""

    def __init__(self, limit=3):
        super().__init__()
        self.limit = limit


class Opaque:
    pass


@dataclass
class NoSchema(Good):
    """Has a parameter that no file can hold."""

    thing: Opaque = field(default_factory=Opaque)


@dataclass
class ChangesParameter(Good):
    """Stores something else than it was given."""

    def __post_init__(self):
        self.min_chars += 1


class ForgetsParameter(Good):
    """Does not keep its parameter."""

    def __init__(self, limit: int = 3):
        super().__init__()


@dataclass
class StringInputs(TableStage):
    """Forgets the brackets."""

    def outputs(self):
        return "text"


@dataclass
class BadBatchSize(Good):
    """Has a batch size of nothing."""

    batch_size = 0


@dataclass
class BadResources(Good):
    """Has resources of another type."""

    resources = {"cpus": 1}


@dataclass
class IgnoresOptions(Good):
    """Overrides with_."""

    def with_(self, **options):
        return self


class NotPicklable(TableStage):
    """Holds a lock from the start."""

    def __init__(self):
        self.lock = threading.Lock()


@dataclass
class Fails(TableStage):
    """Raises on its example."""

    def process(self, task):
        raise RuntimeError("boom")


@dataclass
class ReturnsTable(TableStage):
    """Returns a table instead of a batch."""

    def process(self, task):
        return task.data


@dataclass
class LacksOutput(TableStage):
    """Promises a column."""

    def outputs(self):
        return ["score"]


@dataclass
class UndeclaredOutput(TableStage):
    """Adds a column in secret."""

    def process(self, task):
        return task.with_column("secret", task.text("text").str.len_chars())


@dataclass
class LosesProvenance(TableStage):
    """Drops all but its own column."""

    def columns_after(self, columns):
        return frozenset({"text"})

    def process(self, task):
        return task.with_data(task.data.select(["text"]))


@dataclass
class MutatesInput(TableStage):
    """Changes the task it is given."""

    def process(self, task):
        task.data = task.data.drop_columns(["untouched"])
        return task


@dataclass
class MutatesMeta(TableStage):
    """Changes the meta of the task it is given."""

    def process(self, task):
        task.meta["seen"] = task.meta.get("seen", 0) + 1
        return task


_COUNTER = itertools.count()


@dataclass
class Random(TableStage):
    """Adds a number that is never the same."""

    def outputs(self):
        return ["number"]

    def process(self, task):
        return task.with_column("number", [next(_COUNTER)] * task.num_rows)


@dataclass
class NotRowWise(TableStage):
    """Looks at the whole batch."""

    def outputs(self):
        return ["mean"]

    def process(self, task):
        length = task.text("text").str.len_chars()
        return task.with_column("mean", pl.select(pl.repeat(length.mean(), len(length))).to_series())


@dataclass
class FailsOnEmpty(TableStage):
    """Looks at its first row."""

    def process(self, task):
        task.text("text")[0]
        return task


@dataclass
class FailsOnNull(TableStage):
    """Takes every text for granted."""

    def process(self, task):
        texts = task.text("text").to_list()
        if texts and all(text is None for text in texts):
            texts[0].strip()
        return task


@dataclass
class KeyErrorOnMissing(TableStage):
    """Reads the Arrow table itself."""

    def process(self, task):
        task.data["text"]
        return task


@dataclass
class IgnoresMissing(TableStage):
    """Does not need what it says it reads."""

    def process(self, task):
        return task


@dataclass
class TeardownTwice(TableStage):
    """Cannot be torn down twice."""

    def setup(self, worker):
        self.open = True

    def teardown(self):
        del self.open


class NotThreadSafe(TableStage):
    """Keeps state between calls."""

    thread_safe: ClassVar[bool] = True

    def outputs(self):
        return ["owner"]

    def process(self, task):
        self.owner = threading.get_ident()
        time.sleep(0.005)
        if self.owner != threading.get_ident():
            raise RuntimeError("another thread was here")
        return task.with_column("owner", task.text("text"))


@dataclass
class DropsInSecret(Good):
    """Drops rows without counting them."""

    def process(self, task):
        task.text(self.text_column)
        return task.with_data(task.data.slice(1))


@dataclass
class CountsTooMuch(Good):
    """Counts what it did not drop."""

    def process(self, task):
        report().drop("imagined")
        return super().process(task)


@dataclass
class IgnoresTag(Good):
    """Always drops."""

    def process(self, task):
        self.tag = False
        return super().process(task)


class EmptyComposite(CompositeStage[TableBatch, TableBatch]):
    """Stands for nothing."""

    def decompose(self):
        return []


@dataclass
class WithRequired(ProcessingStage[Task, Task]):
    """Has an input that cannot be guessed."""

    def process(self, task):
        return task


VIOLATIONS = [
    (NoDocstring, "check_docstring_present"),
    (UntypedParameter, "check_parameters_have_types"),
    (NoSchema, "check_parameters_have_schema"),
    (ChangesParameter, "check_constructor_only_stores_parameters"),
    (ForgetsParameter, "check_constructor_only_stores_parameters"),
    (StringInputs, "check_inputs_outputs_declared"),
    (BadBatchSize, "check_resources_valid"),
    (BadResources, "check_resources_valid"),
    (IgnoresOptions, "check_copy_with_options"),
    (NotPicklable, "check_picklable"),
    (ChangesParameter, "check_yaml_round_trip"),
    (EmptyComposite, "check_composite_decomposes"),
    (Fails, "check_processes_example"),
    (ReturnsTable, "check_processes_example"),
    (WithRequired, "check_processes_example"),
    (LacksOutput, "check_declared_outputs_present"),
    (UndeclaredOutput, "check_declared_outputs_present"),
    (LosesProvenance, "check_keeps_provenance_columns"),
    (MutatesInput, "check_does_not_mutate_input"),
    (MutatesMeta, "check_does_not_mutate_input"),
    (Random, "check_deterministic"),
    (NotRowWise, "check_batch_equals_singles"),
    (FailsOnEmpty, "check_handles_empty_batch"),
    (FailsOnNull, "check_handles_null_values"),
    (KeyErrorOnMissing, "check_missing_column_is_clear_error"),
    (IgnoresMissing, "check_missing_column_is_clear_error"),
    (TeardownTwice, "check_setup_teardown_repeatable"),
    (NotThreadSafe, "check_thread_safe_if_declared"),
    (DropsInSecret, "check_filter_counts_what_it_drops"),
    (CountsTooMuch, "check_filter_counts_what_it_drops"),
    (IgnoresTag, "check_filter_can_tag_and_invert"),
]


@pytest.mark.parametrize(("stage", "check"), VIOLATIONS, ids=lambda each: getattr(each, "__name__", each))
def test_a_violation_is_caught_by_its_check(stage, check):
    with pytest.raises(AssertionError, match=rf"{check} \[{stage.__name__}\]"):
        check_stage(stage)


def test_every_check_for_stages_is_shown_to_fail_here_or_in_the_plugin_tests():
    needs_a_plugin = {
        "check_default_name_matches_registry",
        "check_produces_matches_outputs",
        "check_heavy_imports_declared",
    }
    stage_checks = {each.name for each in all_checks() if each.about == "stage"}
    assert stage_checks == {check for _, check in VIOLATIONS} | needs_a_plugin


def test_a_good_stage_passes_and_nothing_important_is_skipped():
    outcome = {each.check: each.outcome for each in check_stage(Good())}
    assert set(outcome.values()) == {"passed", "skipped"}
    assert {check for check, result in outcome.items() if result == "skipped"} == {
        "check_default_name_matches_registry",  # these three need a registered stage
        "check_produces_matches_outputs",
        "check_heavy_imports_declared",
        "check_composite_decomposes",
    }


def test_a_stage_made_of_a_function_passes():
    @processing_stage(name="shout", inputs=["text"])
    def shout(batch: TableBatch) -> TableBatch:
        """Upper-case the text."""
        return batch.with_column("text", batch.text("text").str.to_uppercase())

    results = check_stage(shout, example=TableBatch(data={"text": ["a", None]}))
    assert {each.outcome for each in results} == {"passed", "skipped"}
    assert {each.check: each.outcome for each in results}["check_missing_column_is_clear_error"] == "passed"


def test_every_check_has_a_sentence_that_states_the_rule():
    for check in all_checks():
        assert check.name.startswith("check_")
        assert check.summary.endswith((".", "it.")), check.name


def test_a_failure_names_the_fix():
    with pytest.raises(AssertionError, match=r"fix: let a row depend on itself only"):
        check_stage(NotRowWise)
