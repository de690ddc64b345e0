"""Input that breaks programs: nulls, nothing, control characters, broken escapes, wrong types, huge documents."""

import json

import pyarrow as pa
import pytest

from curator_core import Pipeline
from curator_core.registry import make_stage
from curator_core.values.errors import StageError
from curator_text import DocumentBatch, ReadJsonl

RECIPES = ("gopher", "c4", "fineweb", "nemo_english")
PROSE = "It is the habit of the sea to be calm in the morning and wild at night, and that is how we have known it.\n"


def filters(*, tag=True):
    stages = [
        stage.with_(name=f"{recipe}.{number}", tag=tag)
        for recipe in RECIPES
        for number, stage in enumerate(make_stage("text.heuristics", recipe=recipe).decompose())
    ]
    return [stage for stage in stages if hasattr(stage, "judge")]


def fates(column):
    """Return what every filter of every recipe says of every document, with the scores."""
    batch = DocumentBatch(data=pa.table({"text": column}))
    tagged = [stage.process(batch).data for stage in filters()]
    return [table.select(table.column_names[1:]).to_pylist() for table in tagged]


def test_null_is_missing_and_nothing_is_judged():
    for rows in fates(pa.array([None, "", " \n\t"], pa.string())):
        score, reason = rows[0].values()
        assert (score, reason) == (None, "missing_value")
        for row in rows[1:]:
            assert next(iter(row.values())) is not None


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_any_kind_of_string_column_is_text(kind):
    texts = [PROSE * 3, None, "short", "é\u4e2d\U0001f600 " * 60]
    plain = pa.array(texts, pa.string())
    column = plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain.cast(kind)
    assert fates(column) == fates(plain)


@pytest.mark.parametrize("column", [pa.array([1, 2]), pa.array([["a"], ["b"]]), pa.array([b"a", b"b"])])
def test_a_column_that_holds_no_text_is_refused_by_name(column):
    batch = DocumentBatch(data=pa.table({"text": column}))
    for stage in filters():
        with pytest.raises(StageError, match=r"column 'text' holds .*, but text was expected"):
            stage.process(batch)


def test_a_column_of_nulls_is_text_without_any():
    for rows in fates(pa.nulls(2)):
        assert [list(row.values()) for row in rows] == [[None, "missing_value"]] * 2


def test_control_characters_pass_through_every_filter_and_both_formats(tmp_path):
    controls = "".join(map(chr, [*range(32), 127, *range(128, 160), 0xFEFF, 0xFFFE, 0x200B]))
    texts = [f"{PROSE}{controls}\n{PROSE}", controls, "\x00", "\x00" * 1000]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    stages = [ReadJsonl(str(source)), *filters()]
    result = Pipeline(stages=[*stages, make_stage("table.write_jsonl", path=str(tmp_path / "out"))]).run()
    assert not result.quarantined
    (written,) = (tmp_path / "out").iterdir()
    assert [json.loads(line)["text"] for line in written.read_text(encoding="utf-8").split("\n")[:-1]] == texts


def test_a_lone_surrogate_is_quarantined_and_a_pair_is_a_character(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_bytes(
        b'{"text": "one \\ud800"}\n{"text": "two \\ud83d\\ude00"}\n{"text": "\\udc00 three"}\n{"text": "4"}\n'
    )
    result = Pipeline(stages=[ReadJsonl(str(source)), *filters()]).run()
    assert [text for task in result for text in task.data["text"].to_pylist()] == ["two \U0001f600", "4"]
    assert [record.error_type for record in result.quarantined] == ["InvalidJson", "InvalidJson"]
    assert [record.row for record in result.quarantined] == [0, 52]


def test_a_document_of_100_mb_is_judged_like_any_other(tmp_path):
    line = f"the {'x' * 9_000} and {'y' * 8_000} with {'z' * 900}.\n"
    size = 100_000_000 // len(line)
    source = tmp_path / "in.jsonl"
    with source.open("w") as file:
        file.write(f'{{"text": "{PROSE.strip()}"}}\n{{"text": "')
        file.write(line.replace("\n", "\\n") * size)
        file.write('"}\n')
    refused = Pipeline(stages=[ReadJsonl(str(source))]).run()
    assert [record.error_type for record in refused.quarantined] == ["RecordTooLong"]  # 64 MiB unless told otherwise
    *_, batch = Pipeline(stages=[ReadJsonl(str(source), max_record_bytes=2**27)]).run()
    assert batch.data["text"].nbytes > 99_000_000
    few = fates(pa.array([line * 50]))
    for stage, rows in zip(filters(), few, strict=True):
        tagged = stage.process(batch).data
        reason = tagged.column_names[-1]
        assert tagged[reason][-1].as_py() == rows[0][reason], stage.name
