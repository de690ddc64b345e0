"""Statistics of columns, by group and over a whole run."""

import json
import math

import pyarrow as pa
import pytest

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.registry import default_registry
from curator_core.values.errors import ConfigError
from curator_table import ReadJsonl, Statistics, WriteJsonl


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_statistics_by_group_are_merged_when_the_run_ends(tmp_path):
    for part in range(3):
        rows = [
            {"text": "w " * (number + 1), "lang": "en" if number % 3 else "de", "q": number / 10}
            for number in range(100)
        ]
        write_lines(tmp_path / "in" / f"{part}.jsonl", rows)
    stage = Statistics(str(tmp_path / "s"), columns=["q"], expressions={"half": "q / 2"}, by="lang")
    stages = [ReadJsonl(str(tmp_path / "in"), block_bytes=3000), stage, WriteJsonl(str(tmp_path / "out"))]
    result = Pipeline(stages=stages).run(LocalExecutor(threads=2))
    assert sum(task.num_items for task in result) == 300
    summary = json.loads((tmp_path / "s" / "summary.json").read_text())
    assert summary["rows"] == 300
    assert {group: content["rows"] for group, content in summary["groups"].items()} == {
        "(all)": 300,
        "en": 198,
        "de": 102,
    }
    metrics = summary["groups"]["(all)"]["metrics"]
    assert set(metrics) == {"bytes", "chars", "words", "lines", "q", "half"}
    words = metrics["words"]
    assert (words["count"], words["min"], words["max"], words["mean"]) == (300, 1, 100, 50.5)
    assert words["p50"] == pytest.approx(50, rel=0.04)
    assert words["p99"] == pytest.approx(99, rel=0.04)
    assert sum(count for _, count in words["histogram"]) == 300
    assert metrics["half"]["max"] == pytest.approx(9.9 / 2)
    text = (tmp_path / "s" / "summary.txt").read_text()
    assert "lang = de: 102" in text
    assert "words" in text


class OwnStatistics(Statistics):
    """Defined elsewhere than in curator-text."""


@pytest.mark.parametrize("kind", [Statistics, OwnStatistics])
def test_a_summary_is_written_without_the_plugin_and_for_a_subclass(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("CURATOR_DISABLE_PLUGINS", "text")
    default_registry.cache_clear()
    batch = TableBatch(data={"text": ["a b", "c"]})
    Pipeline(stages=[kind(str(tmp_path))]).run(LocalExecutor(), initial_tasks=[batch])
    default_registry.cache_clear()
    assert json.loads((tmp_path / "summary.json").read_text())["rows"] == 2


def test_statistics_leave_rows_alone_and_count_what_has_no_number(tmp_path):
    table = pa.table({"q": pa.array([1.0, None, math.nan, math.inf], pa.float64()), "text": ["a", None, "", "b\nc"]})
    batch = TableBatch(data=table)
    stage = Statistics(str(tmp_path), columns=["q"], measures=["lines"])
    (out,) = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    assert out.data is table
    metrics = json.loads((tmp_path / "summary.json").read_text())["groups"]["(all)"]["metrics"]
    assert metrics["q"] == {**metrics["q"], "count": 1, "nulls": 3, "mean": 1.0}
    assert (metrics["lines"]["count"], metrics["lines"]["nulls"], metrics["lines"]["max"]) == (3, 1, 2)


def test_statistics_of_nothing_and_in_a_preview(tmp_path, capsys):
    from curator_core.cli import main

    write_lines(tmp_path / "in.jsonl", [{"text": "a"}])
    pipeline = tmp_path / "p.yaml"
    stages = f"""version: 1
stages:
  - table.read_jsonl: {{paths: {tmp_path / "in.jsonl"}}}
  - table.where: {{expression: "length(text) > 1"}}
  - table.statistics: {{path: {tmp_path / "s"}}}
  - table.write_jsonl: {{path: {tmp_path / "out"}}}
executor: local
"""
    pipeline.write_text(stages)
    assert main(["run", str(pipeline), "--quiet"]) == 0
    assert json.loads((tmp_path / "s" / "summary.json").read_text()) == {"rows": 0, "by": None, "groups": {}}
    pipeline.write_text(stages.replace("> 1", "> 0"))
    assert main(["preview", str(pipeline)]) == 0
    printed = capsys.readouterr().out
    assert "table.statistics: not run in a preview" in printed
    assert "result: 1 row" in printed
    assert not list((tmp_path / "s" / "parts").iterdir())


def test_rare_groups_are_counted_together(tmp_path):
    values = ["a"] * 3 + ["b"] * 2 + ["c", "d", None]
    batch = TableBatch(data={"text": ["x"] * 8, "g": values})
    Pipeline(stages=[Statistics(str(tmp_path), by="g", max_groups=3)]).run(LocalExecutor(), initial_tasks=[batch])
    groups = json.loads((tmp_path / "summary.json").read_text())["groups"]
    assert {name: content["rows"] for name, content in groups.items()} == {"(all)": 8, "a": 3, "(other)": 3, "b": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": []}, "nothing to measure"),
        ({"columns": ["words"]}, "same name"),
        ({"expressions": {"x": "sum(q)"}}, "more than one row"),
    ],
)
def test_wrong_statistics_are_refused(tmp_path, options, message):
    with pytest.raises(ConfigError, match=message):
        Statistics(str(tmp_path), **options)
