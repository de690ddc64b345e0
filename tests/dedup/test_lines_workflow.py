"""Lines and paragraphs that stand elsewhere too are removed, from files to files."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core.authoring.column_bytes import column_bytes
from curator_core.values.errors import ConfigError
from curator_dedup import LineDeduplicationWorkflow
from curator_dedup.kernels.segments import split_segments, without_segments
from tests.support.known_duplicates import Documents

PIECES = st.lists(st.sampled_from(["one", "zwei drei", "\n", "\n\n", " ", "\t", "\r\n", "vier", "é"]), max_size=12).map(
    "".join
)


def segments_oracle(text, unit):
    parts = text.split("\n") if unit == "line" else _paragraphs(text)
    return [part.strip(" \t\r\n") for part in parts if part.strip(" \t\r\n")]


def _paragraphs(text):
    found, current = [], []
    for line in text.split("\n"):
        if line.strip(" \t\r"):
            current.append(line)
        else:
            found.append("\n".join(current))
            current = []
    return [*found, "\n".join(current)]


@given(st.lists(st.none() | PIECES, max_size=5), st.sampled_from(["line", "paragraph"]), st.randoms())
def test_segments_and_what_is_left_without_some(texts, unit, draw):
    column = column_bytes(pa.array(texts, pa.string()))
    begins, ends, counts = split_segments(column.data, column.offsets, unit == "paragraph")
    found = [column.data[begin:end].tobytes().decode() for begin, end in zip(begins, ends, strict=True)]
    expected = [segments_oracle(text or "", unit) for text in texts]
    assert counts.tolist() == [len(each) for each in expected]
    assert found == [segment for each in expected for segment in each]
    is_removed = np.array([draw.random() < 0.5 for _ in found], bool)
    data, offsets = without_segments(column.data, column.offsets, begins, ends, counts, is_removed)
    at = 0
    for number, text in enumerate(texts):
        left = data[offsets[number] : offsets[number + 1]].tobytes().decode()
        removed = is_removed[at : at + counts[number]]
        if not removed.any():
            assert left == (text or "")
        assert segments_oracle(left, unit) == [
            each for each, gone in zip(expected[number], removed, strict=True) if not gone
        ]
        at += counts[number]


def run(tmp_path, texts, **options):
    documents = Documents(tmp_path, {str(number): text for number, text in enumerate(texts)}).write(files=2)
    paths = documents.paths()
    del paths["id_column"]
    result = LineDeduplicationWorkflow(**paths, **options).run()
    rows = [json.loads(line) for path in result.output_paths for line in Path(path).read_text("utf-8").splitlines()]
    return result, {int(row["id"]): row.get("text") for row in rows}


MENU = "Home | About us | Contact | Impressum"
NOTICE = "All rights reserved by the owners of this site"


def test_the_first_copy_of_a_line_stays(tmp_path):
    texts = [
        f"{MENU}\nfirst page of the site\n{NOTICE}",
        f"  {MENU}\nsecond page of the site\n\n{NOTICE}",
        MENU,
        None,
        "",
    ]
    result, left = run(tmp_path, texts)
    assert left == {0: texts[0], 1: "second page of the site", 3: None, 4: ""}
    assert (result.lines_removed, result.documents_removed, result.documents) == (3, 1, 5)
    assert "3 repeated pieces removed" in result.report()


def test_short_lines_and_a_number_of_copies_are_left_alone(tmp_path):
    texts = [f"}}\n{MENU}", f"}}\n{MENU}", f"}}\n{MENU}"]
    _, left = run(tmp_path, texts, max_copies=2)
    assert left == {0: texts[0], 1: texts[1], 2: "}"}


def test_paragraphs(tmp_path):
    texts = [f"{MENU}\n{NOTICE}\n\nown text of this one", f"{MENU}\n\nother text of that one\n\n{MENU}\n{NOTICE}"]
    _, left = run(tmp_path, texts, unit="paragraph")
    assert left == {0: texts[0], 1: f"{MENU}\n\nother text of that one"}


@pytest.mark.parametrize("options", [{"unit": "word"}, {"min_bytes": 0}, {"max_copies": 0}])
def test_impossible_parameters_are_refused(options):
    with pytest.raises(ConfigError):
        LineDeduplicationWorkflow("in", "cache", "out", **options)
