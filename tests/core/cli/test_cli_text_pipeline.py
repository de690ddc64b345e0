"""The command line on real files, with the stages of the text plugin."""

import json
from pathlib import Path

import pytest

from curator_core.cli import main

DOCUMENTS = [
    {"id": 1, "text": "one two three four five six"},
    {"id": 2, "text": "too short"},
    {"id": 3, "text": "seven  eight   nine ten eleven twelve"},
]
PIPELINE = """\
version: 1
name: clean
stages:
  - table.read_jsonl: {paths: "${INPUT}/*.jsonl"}
  - text.normalize
  - text.word_count: {min_words: 5}
  - table.write_jsonl: {path: "${OUTPUT}"}
"""


@pytest.fixture
def job(tmp_path):
    (tmp_path / "in").mkdir()
    lines = [json.dumps(document) for document in DOCUMENTS]
    (tmp_path / "in" / "a.jsonl").write_text("\n".join([*lines, "{torn"]) + "\n")
    (tmp_path / "p.yaml").write_text(PIPELINE)

    def call(command, *arguments, text_input="in"):
        sets = ["--set", f"INPUT={tmp_path / text_input}", "--set", f"OUTPUT={tmp_path / 'out'}"]
        return main([command, str(tmp_path / "p.yaml"), *sets, *arguments])

    return call


def test_jsonl_to_jsonl_with_a_torn_record_in_quarantine(job, tmp_path, capsys):
    assert job("run", "--json") == 3
    result = json.loads(capsys.readouterr().out)
    assert (result["rows_in"], result["rows_out"], result["quarantined"]) == (3, 2, 1)
    assert result["dropped"] == {"too_few_words": 1}
    (output,) = result["outputs"]
    written = [json.loads(line) for line in Path(output).read_text().splitlines()]
    assert written == [DOCUMENTS[0], {"id": 3, "text": "seven eight nine ten eleven twelve"}]


def test_summary_names_the_file_and_offset_of_the_quarantined_record(job, tmp_path, capsys):
    assert job("run") == 3
    offset = sum(len(json.dumps(document)) + 1 for document in DOCUMENTS)
    assert f"a.jsonl:{offset}: " in capsys.readouterr().out


@pytest.mark.parametrize("command", ["run", "validate", "explain", "preview"])
def test_input_that_matches_nothing_fails_before_running(command, job, tmp_path, capsys):
    assert job(command, text_input="nowhere") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {tmp_path / 'p.yaml'}:4: ")
    assert "nowhere" in captured.err
    assert "Traceback" not in captured.err
    assert not (tmp_path / "out").exists()


def test_missing_column_is_found_in_the_first_file_and_has_its_line(job, tmp_path, capsys):
    (tmp_path / "p.yaml").write_text(PIPELINE.replace("min_words: 5", "text_column: body"))
    assert job("run") == 2
    assert f"{tmp_path / 'p.yaml'}:6: pipeline 'clean': stage 'text.word_count' reads column 'body'" in (
        capsys.readouterr().err
    )


def test_preview_of_real_files(job, tmp_path, capsys):
    assert job("preview", "--width", "100") == 0
    text = capsys.readouterr().out
    assert "3 ~ text: 'seven  eight   nine" in text
    assert "2 - too_few_words (score 2)  'too short'" in text
    assert not (tmp_path / "out").exists()
