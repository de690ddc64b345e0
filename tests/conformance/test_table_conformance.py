"""The stages of curator-table keep the rules that plugins must keep."""

from curator_devkit.testing import Example, parametrize_with_checks
from curator_table import Sample, SelectColumns, Where

EXAMPLES = {
    "table.sample": Example(stage=Sample(share=0.5)),
    "table.select": Example(stage=SelectColumns(drop=["untouched"], rename={"body": "text"})),
    "table.where": Example(stage=Where("text LIKE '%e%' AND length(text) > 3")),
}


@parametrize_with_checks("table", examples=EXAMPLES)
def test_table_conforms(check):
    check()
