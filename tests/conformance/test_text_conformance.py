"""The text plugin keeps the rules."""

import atexit
import functools
import gzip
import json
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import tokenizers

from curator_core import EmptyTask
from curator_devkit.testing import Example, parametrize_with_checks
from curator_devkit.testing.example import AWKWARD_TEXTS
from curator_text import GeneralCommentToCode, Histogram, PerExtension, plugin
from curator_text.batch import DocumentBatch
from curator_text.filters.characters import Length
from curator_text.filters.heuristics import Heuristics
from curator_text.filters.patterns import Regex, Substring
from curator_text.filters.word_blocklist import WordBlocklist
from curator_text.llm.llm import Llm
from curator_text.mixing.blend import Blend, BlendSource
from curator_text.mixing.resample import Resample
from curator_text.mixing.score_buckets import ScoreBuckets
from curator_text.mixing.shuffle import Partition, Shuffle
from curator_text.mixing.statistics import Statistics
from curator_text.mixing.write_routed import WriteRouted
from curator_text.models.classify import Classify
from curator_text.models.count_tokens import CountTokens
from curator_text.models.embed import Embed
from curator_text.models.fast_text_quality import FastTextQuality
from curator_text.models.fasttext_classify import FasttextClassify
from curator_text.models.perplexity import Perplexity
from curator_text.models.token_count import TokenCount
from curator_text.models.tokenize import Tokenize
from curator_text.models.tokenizer_fertility import TokenizerFertility
from curator_text.modifiers.fasttext_label import FasttextLabel
from curator_text.modifiers.remove import RemoveLines
from curator_text.modifiers.segments import JoinDocuments
from curator_text.privacy.count_contamination import CountContamination
from curator_text.privacy.decontaminate import Decontaminate
from curator_text.privacy.remove_contamination import RemoveContamination
from curator_text.reading.hf import ReadHf
from curator_text.reading.tables import ReadArrow, ReadCsv, ReadJsonl, ReadParquet
from curator_text.reading.text_files import ReadText
from curator_text.reading.warc import ReadWarc
from curator_text.writing.tables import WriteArrow, WriteCsv, WriteJsonl, WriteParquet
from curator_text.writing.tokens import WriteTokens
from tests.support.fake_endpoint import FakeEndpoint
from tests.support.tiny_text_models import classifier, encoder, fasttext_model_file, language_model_file, tokenizer_file

ROWS = [{"text": "one document", "id": 1}, {"text": "größer \u0301\nand longer", "id": 2}, {"text": None, "id": 3}]
LIMITS = "language,extension,Include,Long_line_threshold,Alphanum_threshold,Alpha filter\npython,py,1,1000,0.25,\n"

SEGMENTS = DocumentBatch(
    data={"text": ["b", "a", None], "segment_id": [1, 0, 0], "_source": ["x"] * 3, "_row": [4, 4, 9]}, task_id="3f2a/0"
)
SCORED = DocumentBatch(
    data={
        "text": ["a", None, "c d", ""],
        "edu": [4.5, None, 1.0, 2.0],
        "prose": [0.9, None, 0.3, 0.5],
        "bucket": ["high", None, "low", "medium"],
        "_source": ["x"] * 4,
        "_row": [0, 10, 20, 30],
    },
    task_id="3f2a/0",
)


@functools.cache
def folder() -> Path:
    """A folder with the same rows in every format."""
    path = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    (path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    table = pa.Table.from_pylist(ROWS)
    pyarrow.parquet.write_table(table, path / "rows.parquet")
    pyarrow.csv.write_csv(table, path / "rows.csv")
    (path / "limits.csv").write_text(LIMITS, encoding="utf-8")
    (path / "histogram.txt").write_text("e 3\no 2\n] 1\nz 1\n", encoding="utf-8")
    with pa.ipc.new_file(path / "rows.arrow", table.schema) as writer:
        writer.write_table(table)
    (path / "rows.txt").write_text("one document\n\ngrößer\n", encoding="utf-8")
    (path / "hub").mkdir()
    shutil.copy(path / "rows.parquet", path / "hub" / "train-00000-of-00001.parquet")
    (path / "pages.warc.gz").write_bytes(gzip.compress(warc_page("<p>one") + warc_page("<p>größer")))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"one": 0, "document": 1, "?": 2}, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def warc_page(html):
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html.encode()
    head = f"WARC/1.0\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: {len(block)}\r\n\r\n"
    return head.encode() + block + b"\r\n\r\n"


def benchmark():
    """A benchmark set that one of the awkward texts repeats."""
    path = folder() / "benchmark.txt"
    path.write_text("The quick brown fox jumps over the lazy dog. It was not amused.\n", encoding="utf-8")
    return str(path)


def reading(reader, file):
    return lambda: Example(stage=reader(paths=str(folder() / file)), tasks=[EmptyTask()])


def writing(writer):
    batch = DocumentBatch(data=ROWS, task_id="3f2a/0")
    return lambda: Example(stage=writer(path=str(folder() / writer.__name__)), tasks=[batch])


def judging(make):
    return lambda: Example(stage=make(), tasks=[DocumentBatch(data=ROWS)])


@functools.cache
def endpoint():
    """An endpoint that answers with what it is told."""
    running = FakeEndpoint().running()
    atexit.register(running.__exit__, None, None, None)
    return running.__enter__()


EXAMPLES = {
    "text.read_jsonl": reading(ReadJsonl, "rows.jsonl"),
    "text.read_parquet": reading(ReadParquet, "rows.parquet"),
    "text.read_csv": reading(ReadCsv, "rows.csv"),
    "text.write_jsonl": writing(WriteJsonl),
    "text.write_parquet": writing(WriteParquet),
    "text.general_comment_to_code": judging(lambda: GeneralCommentToCode("c++")),
    "text.histogram": judging(lambda: Histogram(path=str(folder() / "histogram.txt"))),
    "text.per_extension": judging(lambda: PerExtension("python", "py", str(folder() / "limits.csv"))),
    "text.read_arrow": reading(ReadArrow, "rows.arrow"),
    "text.read_text": reading(ReadText, "rows.txt"),
    "text.read_warc": reading(ReadWarc, "pages.warc.gz"),
    "text.read_hf": lambda: Example(stage=ReadHf(path=str(folder() / "hub")), tasks=[EmptyTask()]),
    "text.write_arrow": writing(WriteArrow),
    "text.write_csv": writing(WriteCsv),
    "text.write_tokens": lambda: Example(
        stage=WriteTokens(str(folder() / "tokens"), tokenizer=str(folder() / "tokenizer.json")),
        tasks=[DocumentBatch(data=ROWS, task_id="3f2a/0")],
    ),
    "text.remove_lines": Example(stage=RemoveLines(lines=["line two"], patterns=["^one$"], where="length(line) > 300")),
    "text.join_documents": Example(stage=JoinDocuments(), tasks=[SEGMENTS]),
    "text.fasttext_label": Example(stage=FasttextLabel(label="__label__x")),
    "text.length": Example(stage=Length(min_length=5)),
    "text.substring": Example(stage=Substring("o")),
    "text.regex": Example(stage=Regex("e")),
    "text.decontaminate": lambda: Example(stage=Decontaminate(references=benchmark())),
    "text.remove_contamination": lambda: Example(stage=RemoveContamination(references=benchmark(), min_length=1)),
    "text.count_contamination": lambda: Example(
        stage=CountContamination(str(folder() / "counts"), references=benchmark()),
        tasks=[DocumentBatch(data={"text": [*AWKWARD_TEXTS]}, task_id="3f2a/0")],
    ),
    "text.blend": lambda: Example(
        stage=Blend(
            {
                "a": BlendSource(str(folder() / "rows.jsonl")),
                "b": BlendSource(str(folder() / "rows.parquet"), 2, "parquet"),
            }
        ),
        tasks=[EmptyTask()],
    ),
    "text.score_buckets": Example(stage=ScoreBuckets(["edu", "prose"], ranges={"edu": [0, 5]}), tasks=[SCORED]),
    "text.resample": Example(stage=Resample({"high": 2.5, "low": 0.1}), tasks=[SCORED]),
    "text.shuffle": Example(stage=Shuffle(), tasks=[SCORED]),
    "text.partition": Example(stage=Partition(3), tasks=[SCORED]),
    "text.statistics": lambda: Example(
        stage=Statistics(str(folder() / "statistics"), columns=["edu"], by="bucket"), tasks=[SCORED]
    ),
    "text.write_routed": lambda: Example(stage=WriteRouted(str(folder() / "routed")), tasks=[SCORED]),
    "text.word_blocklist": Example(stage=WordBlocklist(words=["fox", "日"])),
    "text.tokenize": lambda: Example(stage=Tokenize(str(tokenizer_file()), max_length=16)),
    "text.count_tokens": lambda: Example(stage=CountTokens(str(tokenizer_file()), min_tokens=3)),
    "text.token_count": lambda: Example(stage=TokenCount(str(tokenizer_file()), min_tokens=5)),
    "text.tokenizer_fertility": lambda: Example(stage=TokenizerFertility(str(tokenizer_file()))),
    "text.embed": lambda: Example(stage=Embed(str(encoder())), tasks=[DocumentBatch(data=ROWS)]),
    "text.classify": lambda: Example(stage=Classify(str(classifier())), tasks=[DocumentBatch(data=ROWS)]),
    "text.fasttext_classify": lambda: Example(stage=FasttextClassify(str(fasttext_model_file()), keep=["en"])),
    "text.fast_text_quality": lambda: Example(stage=FastTextQuality(str(fasttext_model_file()), label="en")),
    "text.perplexity": lambda: Example(stage=Perplexity(str(language_model_file()), max_perplexity=8)),
    "text.llm": lambda: Example(stage=Llm(base_url=endpoint().url, model="tiny", prompt="say: {text}")),
    "text.heuristics": lambda: Example(stage=Heuristics("fineweb"), tasks=[DocumentBatch(data=ROWS)]),
}


@parametrize_with_checks(plugin, examples=EXAMPLES)
def test_text_conforms(check):
    check()
