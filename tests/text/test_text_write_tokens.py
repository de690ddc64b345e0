"""Token shards, read back by a reader of its own that knows only the published layout of the files."""

import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from curator_core import LocalExecutor, Pipeline
from curator_core.authoring.recording import Recording
from curator_core.files.faults import hooked
from curator_core.values.errors import ConfigError, PipelineError, StageError
from curator_text import DocumentBatch, ReadText, WriteTokens

WORDS = ["the", "quick", "brown", "fox", "<eod>"]
CODES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 6: "<f8", 7: "<f4", 8: "<u2"}


def read_shard(stem):
    """Return the documents of a shard and its type, as Megatron's IndexedDataset reads them."""
    with Path(f"{stem}.idx").open("rb") as file:
        assert file.read(9) == b"MMIDIDX\x00\x00"
        assert struct.unpack("<Q", file.read(8)) == (1,)
        (code,) = struct.unpack("<B", file.read(1))
        (sequences,) = struct.unpack("<Q", file.read(8))
        (edges,) = struct.unpack("<Q", file.read(8))
        lengths = np.frombuffer(file.read(4 * sequences), "<i4")
        pointers = np.frombuffer(file.read(8 * sequences), "<i8")
        documents = np.frombuffer(file.read(8 * edges), "<i8")
        assert file.read() == b""
    data = Path(f"{stem}.bin").read_bytes()
    kind = np.dtype(CODES[code])
    assert sum(lengths) * kind.itemsize == len(data)
    read = []
    for first, last in pairwise(documents):
        ids = [np.frombuffer(data, kind, lengths[each], pointers[each]).tolist() for each in range(first, last)]
        read.append([token for sequence in ids for token in sequence])
    return read, kind


@pytest.fixture
def tokenizer(tmp_path):
    vocabulary = {word: number for number, word in enumerate([*WORDS, "?"])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    (tmp_path / "model").mkdir()
    made.save(str(tmp_path / "model" / "tokenizer.json"))
    return str(tmp_path / "model")


def write(stage, rows, task_id="3f2a/0"):
    recording = Recording()
    with recording.active():
        stage.setup(None)
        written = stage.process(DocumentBatch(data=rows, task_id=task_id))
    return written, recording.dropped


def test_documents_are_tokenized_and_found_again(tokenizer, tmp_path):
    texts = ["the quick fox", "brown", "", None, "the unknown fox fox"]
    stage = WriteTokens(str(tmp_path / "out"), tokenizer=tokenizer)
    written, dropped = write(stage, {"text": texts})
    assert written.paths == [str(tmp_path / "out" / "part-3f2a-0.bin"), str(tmp_path / "out" / "part-3f2a-0.idx")]
    assert (written.meta["rows"], written.meta["tokens"]) == (3, 8)
    assert dropped == {"missing_value": 1, "no_tokens": 1}
    documents, kind = read_shard(tmp_path / "out" / "part-3f2a-0")
    assert documents == [[0, 1, 3], [2], [0, 5, 3, 3]]
    assert kind == np.uint16


@pytest.mark.parametrize("eod", ["<eod>", 4])
def test_the_end_of_a_document_is_marked(eod, tokenizer, tmp_path):
    stage = WriteTokens(str(tmp_path / "out"), tokenizer=f"{tokenizer}/tokenizer.json", eod=eod)
    write(stage, {"text": ["the fox", "brown"]})
    assert read_shard(tmp_path / "out" / "part-3f2a-0")[0] == [[0, 3, 4], [2, 4]]


@pytest.mark.parametrize(("vocab_size", "kind"), [(65_499, "<u2"), (65_500, "<i4"), (None, "<i4")])
def test_a_column_of_tokens_is_written_in_the_type_of_its_vocabulary(vocab_size, kind, tmp_path):
    stage = WriteTokens(str(tmp_path / "out"), token_column="ids", vocab_size=vocab_size, eod=7)
    rows = pa.table({"ids": pa.array([[1, 2, 3], None, [], [65_000]], pa.list_(pa.uint32()))})
    _, dropped = write(stage, rows)
    assert dropped == {"missing_value": 1, "no_tokens": 1}
    assert read_shard(tmp_path / "out" / "part-3f2a-0") == ([[1, 2, 3, 7], [65_000, 7]], np.dtype(kind))


@pytest.mark.parametrize("ids", [[[70_000]], [[-1]]])
def test_tokens_that_do_not_fit_are_an_error(ids, tmp_path):
    with pytest.raises(StageError, match="do not fit uint16"):
        write(WriteTokens(str(tmp_path), token_column="ids", vocab_size=100), {"ids": ids})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("column", [["text"], [1], [[1.5]], [[1, None]]])
def test_a_column_of_something_else_is_an_error(column, tmp_path):
    with pytest.raises(StageError, match="'ids'"):
        write(WriteTokens(str(tmp_path), token_column="ids"), {"ids": column})


def test_a_batch_without_tokens_writes_nothing(tokenizer, tmp_path):
    stage = WriteTokens(str(tmp_path / "out"), tokenizer=tokenizer, eod="<eod>")
    assert write(stage, {"text": ["", None]})[0] is None
    assert write(stage, {"text": pa.array([], pa.string())})[0] is None
    assert list((tmp_path / "out").iterdir()) == []


def test_wrong_parameters_are_found_before_anything_runs(tokenizer, tmp_path):
    for wrong in ({}, {"tokenizer": "x", "token_column": "y"}, {"token_column": "y", "eod": "<eod>"}):
        with pytest.raises(ConfigError):
            WriteTokens("out", **wrong)
    (tmp_path / "in.txt").write_text("the fox")
    (tmp_path / "broken.json").write_text("{}")
    reader = ReadText(str(tmp_path / "in.txt"))
    for wrong, message in (
        ({"tokenizer": "missing.json"}, "there is no tokenizer"),
        ({"tokenizer": str(tmp_path / "broken.json")}, "is not a tokenizer"),
        ({"tokenizer": tokenizer, "eod": "</s>"}, "has no token '</s>'"),
    ):
        with pytest.raises(PipelineError, match=message):
            Pipeline(stages=[reader, WriteTokens(str(tmp_path / "out"), **wrong)]).build()


def test_the_index_appears_last(tokenizer, tmp_path):
    out = tmp_path / "out"
    seen = []
    with hooked(lambda point: seen.append((point, sorted(path.suffix for path in out.glob("part*"))))):
        write(WriteTokens(str(out), tokenizer=tokenizer), {"text": ["the fox"]})
    renames = [suffixes for point, suffixes in seen if point == "commit.renamed"]
    assert renames == [[".bin"], [".bin", ".idx"]]


def test_the_same_documents_give_the_same_files_in_a_pipeline(tokenizer, tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(["the quick brown fox"] * 50))
    for name, threads in (("one", 1), ("two", 2)):
        writer = WriteTokens(str(tmp_path / name), tokenizer=tokenizer, eod="<eod>")
        reader = ReadText(str(tmp_path / "in.txt"), per="line", block_bytes=200)
        Pipeline(stages=[reader, writer]).run(LocalExecutor(threads=threads))
    files = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "two").iterdir()}
    shards = sorted(path.with_suffix("") for path in (tmp_path / "one").glob("*.idx"))
    assert len(shards) > 2
    assert [read_shard(shard)[0][0] for shard in shards] == [[0, 1, 2, 3, 4]] * len(shards)
    assert sum(len(read_shard(shard)[0]) for shard in shards) == 50
