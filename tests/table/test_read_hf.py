"""Hugging Face datasets on disk, in the layouts that ``datasets`` writes and that the hub has."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import PipelineError
from curator_table import ReadHf
from curator_text import WordCount


def rows_of(split, count=6):
    return [{"text": f"{split} document {number}", "id": number} for number in range(count)]


def save(folder, split, rows, shards=2):
    """Write what ``Dataset.save_to_disk`` writes: Arrow streams, their names in state.json, a description."""
    folder.mkdir(parents=True)
    names = [f"data-{shard:05}-of-{shards:05}.arrow" for shard in range(shards)]
    for shard, name in enumerate(names):
        table = pa.Table.from_pylist(rows[shard::shards])
        with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    state = {
        "_data_files": [{"filename": name} for name in names],
        "_fingerprint": "0f1e2d3c4b5a6978",
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": split,
    }
    (folder / "state.json").write_text(json.dumps(state, indent=2))
    features = {"text": {"dtype": "string", "_type": "Value"}, "id": {"dtype": "int64", "_type": "Value"}}
    (folder / "dataset_info.json").write_text(json.dumps({"citation": "", "features": features}))


def read(path, **kwargs):
    result = Pipeline(stages=[ReadHf(str(path), **kwargs)]).run(LocalExecutor(max_attempts=1))
    assert not result.quarantined
    return [row for batch in result for row in batch.data.to_pylist()]


def read_texts(path, **kwargs):
    return sorted(row["text"] for row in read(path, **kwargs))


def expected(*splits):
    return sorted(row["text"] for split in splits for row in rows_of(split))


def test_a_saved_dataset(tmp_path):
    save(tmp_path / "set", "train", rows_of("train"))
    (tmp_path / "set" / "cache-1234.arrow").write_bytes(b"left over from a map; not part of the dataset")
    assert read_texts(tmp_path / "set") == expected("train")
    rows = read(tmp_path / "set", columns=["id"])
    assert set(rows[0]) == {"id", "_source", "_row"}
    assert len({(row["_source"], row["_row"]) for row in rows}) == 6


def test_a_saved_dictionary_of_splits(tmp_path):
    for split in ("train", "test"):
        save(tmp_path / "set" / split, split, rows_of(split))
    (tmp_path / "set" / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    assert read_texts(tmp_path / "set", split="test") == expected("test")
    assert read_texts(tmp_path / "set", split=["test", "train"]) == expected("test", "train")
    assert read_texts(tmp_path / "set", split="*") == expected("test", "train")
    with pytest.raises(PipelineError, match=r"has the splits train, test"):
        read(tmp_path / "set")
    with pytest.raises(PipelineError, match="did you mean 'train'"):
        read(tmp_path / "set", split="trian")


@pytest.mark.parametrize(
    ("train", "validation"),
    [
        ("data/train-00000-of-00001.parquet", "data/validation-00000-of-00001-abcdef.parquet"),
        ("train.jsonl", "dev.jsonl"),
        ("train/0000.parquet", "val/0000.parquet"),
        ("my_training_set.csv", "my_valid_set.csv"),
        ("c4-train.00000.jsonl", "c4-validation.00000.jsonl"),
    ],
)
def test_a_repository_of_the_hub(train, validation, tmp_path):
    for name, split in ((train, "train"), (validation, "validation")):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, rows_of(split))
    (tmp_path / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
    (tmp_path / "dataset_infos.json").write_text("{}")
    assert read_texts(tmp_path, split="train") == expected("train")
    assert read_texts(tmp_path, split="validation") == expected("validation")


def write_rows(path, rows):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text("text,id\n" + "".join(f"{row['text']},{row['id']}\n" for row in rows))


def test_files_without_a_split_are_one(tmp_path):
    write_rows(tmp_path / "a.jsonl", rows_of("a"))
    write_rows(tmp_path / "b.parquet", rows_of("b"))
    assert read_texts(tmp_path) == expected("a", "b")
    assert len(read(tmp_path, limit_files=1)) == 6


def test_large_files_are_cut(tmp_path):
    pq.write_table(pa.Table.from_pylist(rows_of("x", 1000)), tmp_path / "x.parquet", row_group_size=100)
    result = Pipeline(stages=[ReadHf(str(tmp_path), block_bytes=2000)]).run()
    assert len(result) > 3
    assert sum(batch.num_rows for batch in result) == 1000


def test_problems_are_found_before_anything_runs(tmp_path):
    with pytest.raises(PipelineError, match="is not a folder"):
        Pipeline(stages=[ReadHf(str(tmp_path / "nowhere"))]).build()
    (tmp_path / "empty").mkdir()
    with pytest.raises(PipelineError, match="it is empty"):
        Pipeline(stages=[ReadHf(str(tmp_path / "empty"))]).build()
    save(tmp_path / "set", "train", rows_of("train"))
    with pytest.raises(PipelineError, match="body"):
        Pipeline(stages=[ReadHf(str(tmp_path / "set")), WordCount(text_column="body")]).build()
    (tmp_path / "set" / "state.json").write_text("{")
    with pytest.raises(PipelineError, match="not JSON"):
        Pipeline(stages=[ReadHf(str(tmp_path / "set"))]).build()


def test_a_corrupt_file_costs_itself_only(tmp_path):
    write_rows(tmp_path / "a.parquet", rows_of("a"))
    (tmp_path / "b.parquet").write_bytes(b"PAR1 nothing")
    result = Pipeline(stages=[ReadHf(str(tmp_path))]).run()
    assert sum(batch.num_rows for batch in result) == 6
    assert [problem.source for problem in result.quarantined] == [str(tmp_path / "b.parquet")]
