import pytest

from curator_core import Pipeline
from curator_core.authoring.list_files import ListFiles
from curator_core.cli.preview_rows import preview_plan
from curator_core.values.errors import PipelineError

TEXT = """
    version: 1
    stages:
      - toy.rows: {count: 6}
      - toy.shout
      - toy.min_chars
      - toy.write: {path: OUT}
"""


def test_preview_shows_changed_cells_dropped_rows_and_writes_nothing(cli, write_pipeline, tmp_path):
    outcome = cli("preview", write_pipeline(TEXT.replace("OUT", str(tmp_path / "out"))), "-n", 3, "--width", 80)
    assert outcome.status == 0
    assert "toy.rows: 3 rows read" in outcome.out
    assert "1 ~ text: 'hello' -> 'HELLO'" in outcome.out
    assert "2 - too_short (score 2)  'HI'" in outcome.out
    assert "toy.min_chars: 3 rows in, 2 out, 1 dropped" in outcome.out
    assert "toy.write: not run in a preview" in outcome.out
    assert "result: 2 rows of 3" in outcome.out
    assert not (tmp_path / "out").exists()


def test_preview_json_has_every_row_and_reason(cli, write_pipeline, tmp_path):
    outcome = cli("preview", write_pipeline(TEXT.replace("OUT", str(tmp_path / "out"))), "-n", 3, "--json")
    shout, min_chars, write = outcome.json["stages"]
    assert [row["text"] for row in outcome.json["rows"]] == ["hello", "hi", "good morning"]
    assert shout["changes"][1] == {"row": 2, "column": "text", "before": "hi", "after": "HI"}
    assert min_chars["dropped"][0]["reason"] == "too_short"
    assert min_chars["dropped"][0]["row"] == 2
    assert write["note"]
    assert [number for number, _ in outcome.json["result"]] == [1, 3]


def test_preview_keeps_to_the_width(cli, write_pipeline):
    text = "version: 1\nstages:\n  - toy.rows: {words: ['" + "word " * 100 + "']}\n  - toy.shout\n"
    outcome = cli("preview", write_pipeline(text), "--width", 60)
    assert outcome.status == 0
    assert max(len(line) for line in outcome.out.splitlines()) <= 60


def test_preview_shows_the_difference_even_at_the_end_of_a_long_text(cli, write_pipeline):
    text = "version: 1\nstages:\n  - toy.rows: {count: 1, words: ['" + "X" * 500 + "end']}\n  - toy.shout\n"
    outcome = cli("preview", write_pipeline(text), "--width", 80)
    assert "end'" in outcome.out
    assert "END'" in outcome.out


def test_preview_shows_added_and_removed_columns(cli, write_pipeline):
    text = """
        version: 1
        stages:
          - toy.rows: {count: 1}
          - toy.min_chars: {tag: true}
          - table.select: {drop: [id]}
    """
    outcome = cli("preview", write_pipeline(text))
    assert "adds min_chars_score, min_chars_reason" in outcome.out
    assert "1 + min_chars_score: 5" in outcome.out
    assert "removes id" in outcome.out


def test_preview_shows_a_failing_stage_instead_of_dying(cli, write_pipeline):
    outcome = cli("preview", write_pipeline("version: 1\nstages: [toy.rows, toy.fail]\n"))
    assert outcome.status == 0
    assert "! ValueError: cannot stand 'hi'" in outcome.out


def test_preview_needs_a_stage_that_makes_rows(tmp_path):
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(PipelineError, match="nothing to preview"):
        preview_plan(Pipeline(stages=[ListFiles(str(tmp_path))]).build(), rows=1)


def test_preview_shows_a_stage_that_cannot_be_set_up(cli, write_pipeline):
    outcome = cli("preview", write_pipeline("version: 1\nstages: [toy.rows, toy.explode]\n"))
    assert "no fuse" in outcome.out
