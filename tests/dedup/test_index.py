"""The index that a finished workflow leaves: it is read back, also where it was written with a former name."""

import json

from curator_dedup.index import Index

INDEX = Index(
    kind="exact",
    parameters={"hash": "two lanes"},
    partitions=4,
    paths=["in/a.jsonl"],
    format="jsonl",
    block_bytes=1000,
    content_column="text",
    numbering="numbering.json",
    documents=3,
)


def test_an_index_is_read_as_it_was_written(tmp_path):
    INDEX.write(str(tmp_path))
    assert Index.read(str(tmp_path)) == INDEX


def test_an_index_with_the_former_name_of_its_column_is_read(tmp_path):
    INDEX.write(str(tmp_path))
    file = tmp_path / "index.json"
    content = json.loads(file.read_text())
    content["content_field"] = content.pop("content_column")
    file.write_text(json.dumps(content))
    assert Index.read(str(tmp_path)) == INDEX
