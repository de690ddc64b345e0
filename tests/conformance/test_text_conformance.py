"""The text plugin keeps the rules."""

import atexit
import functools
import gzip
import shutil
import tempfile
from pathlib import Path

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
from curator_text.models.add_token_count import AddTokenCount
from curator_text.models.classify import Classify
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
from curator_text.reading.text_files import ReadText
from curator_text.reading.warc import ReadWarc
from curator_text.writing.tokens import WriteTokens
from tests.support.fake_endpoint import FakeEndpoint
from tests.support.tiny_text_models import classifier, encoder, fasttext_model_file, language_model_file, tokenizer_file

ROWS = [{"text": "one document", "id": 1}, {"text": "größer \u0301\nand longer", "id": 2}, {"text": None, "id": 3}]
LIMITS = "language,extension,Include,Long_line_threshold,Alphanum_threshold,Alpha filter\npython,py,1,1000,0.25,\n"

SEGMENTS = DocumentBatch(
    data={"text": ["b", "a", None], "segment_id": [1, 0, 0], "_source": ["x"] * 3, "_row": [4, 4, 9]}, task_id="3f2a/0"
)


@functools.cache
def folder() -> Path:
    """A folder with the files that stages read."""
    path = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    (path / "limits.csv").write_text(LIMITS, encoding="utf-8")
    (path / "histogram.txt").write_text("e 3\no 2\n] 1\nz 1\n", encoding="utf-8")
    (path / "rows.txt").write_text("one document\n\ngrößer\n", encoding="utf-8")
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


def judging(make):
    return lambda: Example(stage=make(), tasks=[DocumentBatch(data=ROWS)])


@functools.cache
def endpoint():
    """An endpoint that answers with what it is told."""
    running = FakeEndpoint().running()
    atexit.register(running.__exit__, None, None, None)
    return running.__enter__()


EXAMPLES = {
    "text.general_comment_to_code": judging(lambda: GeneralCommentToCode("c++")),
    "text.histogram": judging(lambda: Histogram(path=str(folder() / "histogram.txt"))),
    "text.per_extension": judging(lambda: PerExtension("python", "py", str(folder() / "limits.csv"))),
    "text.read_text": reading(ReadText, "rows.txt"),
    "text.read_warc": reading(ReadWarc, "pages.warc.gz"),
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
    "text.word_blocklist": Example(stage=WordBlocklist(words=["fox", "日"])),
    "text.tokenize": lambda: Example(stage=Tokenize(str(tokenizer_file()), max_length=16)),
    "text.add_token_count": lambda: Example(stage=AddTokenCount(str(tokenizer_file()), min_tokens=3)),
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
