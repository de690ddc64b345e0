"""What a run is known by: names that stay when modules move, and every value that decides the output."""

from dataclasses import dataclass

import polars as pl
import pytest

from curator_core import Filter, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.run.ledger.identity import differences, plan_identity


@dataclass
class Made(ProcessingStage[Task, Task]):
    """A stage that is given a class."""

    batch_type: type[Task] = TableBatch
    place: str = "b.a"
    name = "made"

    def process(self, task):
        return task


def stage(**values):
    return {"stages": [{"name": "made", "class": "Made", "code": "acme 1", "version": "1", **values}]}


def test_no_module_is_part_of_an_identity():
    (found,) = plan_identity(Pipeline("p", stages=[Made()]).build())["stages"]
    assert (found["class"], found["params"]) == ("Made", {"batch_type": "type TableBatch", "place": "b.a"})


def test_a_run_of_before_is_the_same_though_its_classes_were_named_with_their_modules():
    before = stage(**{"class": "acme.old.Made", "params": {"batch_type": "acme.old.TableBatch"}})
    assert differences(before, stage(params={"batch_type": "type TableBatch"})) == []


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (stage(params={"place": "b.a"}), stage(params={"place": "a"})),
        (stage(params={"batch_type": "acme.Batch"}), stage(params={"batch_type": "type TableBatch"})),
        (stage(**{"class": "acme.AlsoMade"}), stage()),
        (stage(code="acme 1"), stage(code="acme 2")),
    ],
)
def test_whatever_else_differs_is_told(before, now):
    assert len(differences(before, now)) == 1


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({"params": {"share": 0.5}}, {"params": {"fraction": 0.5}}),
        ({"params": {"text_field": "body", "max_lines": 2}}, {"params": {"text_column": "body", "max_lines": 2}}),
        ({"class": "CountTokens"}, {"class": "AddTokenCount"}),
    ],
)
def test_a_new_name_makes_a_difference_only_in_stages_of_others(before, now):
    code = "curator-text 0.1.0"
    assert differences(stage(code=code, **before), stage(code=code, **now)) == []
    assert differences(stage(**before), stage(**now))


@pytest.mark.parametrize(("value", "lines"), [(None, 0), (False, 0), (0, 1), ("gz", 1)])
def test_a_parameter_that_is_gone_makes_a_difference_only_if_it_was_given(value, lines):
    assert len(differences(stage(params={"compression": value}), stage(params={}))) == lines


def identity_of(expression):
    (found,) = plan_identity(Pipeline("p", stages=[Filter.of(expression, reason="unlisted")]).build())["stages"]
    return found


def test_a_value_in_the_middle_of_a_long_expression_makes_a_difference():
    """Polars shows the first and the last values of a list only."""
    listed = list(range(1_000))
    before, now = (pl.col("n").is_in(values) for values in (listed, [*listed[:500], -1, *listed[501:]]))
    assert str(before) == str(now)
    assert identity_of(before) == identity_of(pl.col("n").is_in(list(listed)))
    assert identity_of(before) != identity_of(now)


def test_an_expression_that_calls_python_is_never_taken_for_the_same():
    expression = pl.col("n").map_elements(str.isdigit, return_dtype=pl.Boolean)
    assert identity_of(expression) != identity_of(expression)
