"""Documents from plain text files: per file, paragraph and line."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError
from curator_text import DocumentBatch, ReadText

LINES = ["first line", "zweite Zeile: Größe", "三行目", "last"]


def read(path, **kwargs):
    result = Pipeline(stages=[ReadText(str(path), **kwargs)]).run(LocalExecutor(max_attempts=1))
    assert all(isinstance(batch, DocumentBatch) for batch in result)
    return [row for batch in result for row in batch.data.to_pylist()], result.quarantined


def texts(path, **kwargs):
    rows, quarantined = read(path, **kwargs)
    assert not quarantined
    return [row["text"] for row in rows]


def test_a_document_per_file_in_the_order_of_names(tmp_path):
    for number in range(300):
        (tmp_path / f"{number:03}.txt").write_text(f"document {number}\n\nmore\n", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(b"packed"))
    (tmp_path / "data.json").write_text("{}")
    rows, _ = read(tmp_path)
    expected = [f"document {number}\n\nmore\n" for number in range(300)]
    assert [row["text"] for row in rows] == [*expected, "", "packed"]
    assert rows[7]["_source"] == str(tmp_path / "007.txt")
    result = Pipeline(stages=[ReadText(str(tmp_path))]).run()
    assert len(result) < 5, "small files share a unit of work"


@pytest.mark.parametrize("block_bytes", [1, 7, 30, 10_000])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_document_per_line_however_the_file_is_cut(block_bytes, line_end, tmp_path):
    data = ("\ufeff" + line_end.join([LINES[0], "", *LINES[1:]])).encode()
    (tmp_path / "a.txt").write_bytes(data)
    rows, _ = read(tmp_path, per="line", block_bytes=block_bytes)
    assert [row["text"] for row in rows] == LINES
    assert [data[row["_row"] :].decode().startswith(row["text"]) for row in rows] == [True] * 4


@pytest.mark.parametrize("block_bytes", [1, 7, 30, 10_000])
def test_a_document_per_paragraph(block_bytes, tmp_path):
    data = "\n\none\nstill one\n \t\n\n\ntwo Größe\r\n\r\nthree\n\n".encode()
    (tmp_path / "a.txt").write_bytes(data)
    rows, _ = read(tmp_path, per="paragraph", block_bytes=block_bytes)
    assert [row["text"] for row in rows] == ["one\nstill one", "two Größe", "three"]
    assert [data[row["_row"] :].decode().startswith(row["text"]) for row in rows] == [True] * 3


@settings(max_examples=30)
@given(lines=st.lists(st.text(st.characters(exclude_characters="\n\r\x00", codec="utf-8")), max_size=20))
def test_lines_are_what_splitting_gives(lines, tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes("\n".join(lines).encode())
    expected = [line for line in "\n".join(lines).removeprefix("\ufeff").split("\n") if line]
    assert texts(path, per="line", block_bytes=50) == expected


@pytest.mark.parametrize("per", ["line", "paragraph"])
def test_undecodable_text_is_quarantined_alone(per, tmp_path):
    separator = b"\n" if per == "line" else b"\n\n"
    (tmp_path / "a.txt").write_bytes(separator.join([b"good", b"Gr\xf6\xdfe", "größer".encode()]))
    rows, (problem,) = read(tmp_path, per=per)
    assert [row["text"] for row in rows] == ["good", "größer"]
    assert (problem.source, problem.row) == (str(tmp_path / "a.txt"), 4 + len(separator))
    assert "0xf6" in problem.message
    assert texts(tmp_path, per=per, errors="replace") == ["good", "Gr\ufffd\ufffde", "größer"]


def test_an_undecodable_file_is_quarantined_alone(tmp_path):
    (tmp_path / "a.txt").write_bytes("Größe".encode("latin-1"))
    (tmp_path / "b.txt").write_bytes(b"good")
    (tmp_path / "c.txt").write_bytes(gzip.compress(b"packed under a wrong name"))
    rows, problems = read(tmp_path)
    assert [row["text"] for row in rows] == ["good"]
    assert [problem.source for problem in problems] == [str(tmp_path / "a.txt"), str(tmp_path / "c.txt")]
    assert "gzip data" in problems[1].message
    assert texts(tmp_path / "a.txt", encoding="latin-1") == ["Größe"]
    assert texts(tmp_path / "a.txt", encoding="latin-1", per="line") == ["Größe"]


def test_a_binary_file_does_not_fill_the_memory_with_reports(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\xf0\n" * 5000)
    rows, problems = read(tmp_path, per="line")
    assert not rows
    assert len(problems) == 1001
    assert sum(problem.rows for problem in problems) == 5000


def test_limits(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"short\n\n" + b"long " * 1000 + b"\n\nshort again\n")
    assert [problem.error_type for problem in read(tmp_path, max_file_bytes=100)[1]] == ["UnreadableFile"]
    for per in ("line", "paragraph"):
        rows, (problem,) = read(tmp_path, per=per, max_record_bytes=100, block_bytes=50)
        assert [row["text"] for row in rows] == ["short", "short again"]
        assert (problem.row, problem.error_type) == (7, "RecordTooLong")


def test_wrong_parameters_are_refused():
    with pytest.raises(ConfigError, match="unknown encoding"):
        ReadText("x", encoding="utf-9")
    with pytest.raises(ConfigError, match="lines cannot be found"):
        ReadText("x", encoding="utf-16", per="line")


def test_utf16_files_and_another_column(tmp_path):
    (tmp_path / "a.log").write_bytes("Größe".encode("utf-16"))
    rows, _ = read(tmp_path, encoding="utf-16", extensions=[".log"], text_column="body")
    assert rows[0]["body"] == "Größe"
