"""Core's own stages keep the rules that plugins must keep."""

from curator_core import plugin
from curator_core.stages.sample import Sample
from curator_core.stages.select_columns import SelectColumns
from curator_core.stages.where import Where
from curator_devkit.testing import Example, parametrize_with_checks

EXAMPLES = {
    "core.sample": Example(stage=Sample(share=0.5)),
    "core.select_columns": Example(stage=SelectColumns(drop=["untouched"], rename={"body": "text"})),
    "core.where": Example(stage=Where("text LIKE '%e%' AND length(text) > 3")),
}


@parametrize_with_checks(plugin, examples=EXAMPLES)
def test_core_conforms(check):
    check()
