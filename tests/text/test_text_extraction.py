"""Text of web pages: what comes out, and pages built to hang, crash or exhaust the extractor."""

import gc
import os
import pickle
import signal
import time

import pyarrow as pa
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.authoring.recording import Recording
from curator_core.values.errors import ConfigError, StageError
from curator_text import DocumentBatch, ExtractHtml, HtmlToText

WORDS = "The mountains were covered with snow, and the people who lived in the valley had not seen the road for weeks."
PAGE = (
    "<html><head><title>Title</title><script>var a = 'code';</script></head><body>"
    "<nav><a href='/'>Home</a> <a href='/about'>About us</a></nav>"
    f"<article><h1>Snow &amp; ice</h1><p>{WORDS} {WORDS}</p><p>{WORDS} {WORDS} Größe.</p>"
    "<p><a href='http://example.org/x'>A link</a> <img src=i.png alt='An image'></p></article>"
    "<footer>Copyright</footer></body></html>"
)


@pytest.fixture
def run():
    """Run a stage on pages; return the rows and what was reported. Its processes are ended after the test."""
    stages = []

    def run(stage, pages, kind=None):
        stages.append(stage)
        recording = Recording()
        data = pa.table({stage.inputs()[0]: pa.array(pages, kind), "n": range(len(pages)), "_row": range(len(pages))})
        with recording.active():
            output = stage.process(DocumentBatch(data=data))
        return ([] if output is None else output.data.to_pylist()), recording.bad_records

    yield run
    for stage in stages:
        stage.teardown()


@pytest.mark.parametrize("backend", ["resiliparse", "trafilatura", "justext"])
def test_the_main_content_comes_out(backend, run):
    rows, _ = run(ExtractHtml(backend=backend), [PAGE])
    text = rows[0]["text"]
    assert WORDS in text
    assert "Größe" in text
    assert all(word not in text for word in ("Copyright", "About us", "code", "<p>"))
    assert "html" not in rows[0]


def test_parameters_say_what_comes_out(run):
    everything = run(ExtractHtml(main_content=False, links=True, alt_texts=True), [PAGE])[0][0]["text"]
    assert all(word in everything for word in ("About us", "http://example.org/x", "An image", "Copyright"))
    one_line = run(ExtractHtml(preserve_formatting=False), [PAGE])[0][0]["text"]
    assert "\n" not in one_line
    assert "An image" not in one_line
    assert "html" in run(ExtractHtml(keep_html=True), [PAGE])[0][0]
    assert "Snow & ice" in run(ExtractHtml(html_column="text"), [PAGE])[0][0]["text"]


@pytest.mark.parametrize(
    ("pages", "kind"),
    [
        ([PAGE, None, "", " "], pa.string()),
        ([PAGE.encode(), None, b"", b" "], pa.binary()),
        ([PAGE.encode("cp1252"), None, b"", b" "], pa.large_binary()),
        ([("\ufeff" + PAGE).encode("utf-16-le"), None, b"", b" "], pa.large_binary()),
    ],
)
def test_pages_are_text_or_bytes_and_may_be_missing(pages, kind, run):
    rows, problems = run(ExtractHtml(), pages, kind)
    assert "Größe" in rows[0]["text"]
    assert [row["text"] for row in rows[1:]] == [None, "", ""]
    assert not problems


def test_a_column_of_something_else_is_an_error(run):
    with pytest.raises(StageError, match="holds int64"):
        run(ExtractHtml(), [1])


def test_odd_markup_does_no_harm(run):
    pages = [f"<p>before\0after {WORDS}", "<p>&#xD800; &#0; &notanentity;", "no markup at all", "<p>\U0001f600"]
    rows, problems = run(ExtractHtml(main_content=False), pages)
    assert len(rows) == 4
    assert not problems
    assert "after" in rows[0]["text"]


HANGING_PAGE = "<html><body>" + "<div>" * 50_000 + "x"
"""Nesting that takes the extractor minutes, with the square of its depth."""


def test_a_page_that_hangs_the_extractor_is_quarantined_and_its_neighbours_come_out(run):
    pages = [PAGE] * 20
    pages[7] = pages[13] = HANGING_PAGE
    started = time.process_time()
    rows, problems = run(ExtractHtml(page_timeout_s=0.5), pages)
    assert [row["n"] for row in rows] == [number for number in range(20) if number not in (7, 13)]
    assert all("Größe" in row["text"] for row in rows)
    assert [(problem.row, problem.error_type) for problem in problems] == [
        (7, "ExtractionTimeout"),
        (13, "ExtractionTimeout"),
    ]
    assert problems[0].payload.startswith("<html><body><div>")
    assert time.process_time() - started < 5, "the waiting is done without using a processor"


def test_in_a_pipeline_the_page_is_quarantined_with_its_source(tmp_path):
    import json

    from curator_text import ReadJsonl

    pages = [PAGE, HANGING_PAGE, PAGE]
    lines = [json.dumps({"html": page}) + "\n" for page in pages]
    (tmp_path / "pages.jsonl").write_text("".join(lines))
    stages = [ReadJsonl(str(tmp_path)), ExtractHtml(page_timeout_s=0.5)]
    result = Pipeline(stages=stages).run(LocalExecutor(threads=2))
    assert sum(batch.num_rows for batch in result) == 2
    (record,) = result.quarantined
    assert (record.source, record.row) == (str(tmp_path / "pages.jsonl"), len(lines[0]))
    assert record.error_type == "ExtractionTimeout"


class Crashing(ExtractHtml):
    """Ends its process from outside while it works, as a crash in native code would from inside."""

    def kill(self, number):
        (process,) = self._extractor()._idle
        os.kill(process._process.pid, number)
        process._process.wait()


def test_a_process_that_died_between_pages_is_replaced(run):
    stage = Crashing()
    assert len(run(stage, [PAGE])[0]) == 1
    stage.kill(signal.SIGKILL)
    rows, problems = run(stage, [PAGE] * 3)
    assert (len(rows), problems) == (3, [])


def test_a_page_that_crashes_the_extractor_is_quarantined(run, monkeypatch):
    monkeypatch.setattr("curator_text.extraction.guarded_extractor._START", CRASH_ON_MARKER)
    rows, problems = run(ExtractHtml(), [PAGE, PAGE + "<!--crash-->", PAGE, PAGE + "<!--raise-->"])
    assert [row["n"] for row in rows] == [0, 2]
    assert [(problem.row, problem.error_type) for problem in problems] == [
        (1, "ExtractorCrashed"),
        (3, "ExtractionFailed"),
    ]
    assert "SIGSEGV" in problems[0].message
    assert "odd page" in problems[1].message


CRASH_ON_MARKER = """
import os, sys; sys.path[:] = sys.argv[1].split(os.pathsep)
import signal
from curator_text.extraction import extractor_process
load = extractor_process._load
def crashing(parameters):
    extract = load(parameters)
    def run(page):
        if "<!--crash-->" in page:
            os.kill(os.getpid(), signal.SIGSEGV)
        if "<!--raise-->" in page:
            raise ValueError("odd page")
        return extract(page)
    return run
extractor_process._load = crashing
extractor_process.main()
"""


def test_a_tree_without_bounds_cannot_take_all_memory(run, monkeypatch):
    monkeypatch.setattr("curator_text.extraction.markup_stage.MAX_MEMORY_BYTES", 100 * 2**20)
    rows, problems = run(ExtractHtml(page_timeout_s=20), [PAGE, "<p>" * 2_000_000, PAGE])
    assert [row["n"] for row in rows] == [0, 2]
    (problem,) = problems
    assert problem.error_type in ("ExtractorCrashed", "ExtractionFailed")


def test_a_large_page_is_quarantined(run):
    rows, problems = run(ExtractHtml(max_html_bytes=1000), [PAGE * 9, "<p>small"])
    assert [row["n"] for row in rows] == [1]
    assert [(problem.row, problem.error_type) for problem in problems] == [(0, "PageTooLarge")]


def test_a_batch_of_which_nothing_is_left(run):
    assert run(ExtractHtml(max_html_bytes=10), [PAGE, PAGE])[0] == []


def test_many_pages_go_in_several_requests(run):
    pages = [PAGE.replace("Größe", f"number {number}") for number in range(5000)]
    rows, _ = run(ExtractHtml(), pages)
    assert all(f"number {row['n']}" in row["text"] for row in rows)
    assert len(rows) == 5000


def test_processes_end_with_the_stage():
    stage = ExtractHtml()
    stage.process(DocumentBatch(data={"html": [PAGE]}))
    (process,) = stage._extractor()._idle
    stage.teardown()
    assert process._process.returncode is not None
    stage.process(DocumentBatch(data={"html": [PAGE]}))
    (process,) = stage._extractor()._idle
    del stage
    gc.collect()
    assert process._process.returncode is not None


def test_a_stage_that_is_at_work_can_be_sent_elsewhere(run):
    stage = ExtractHtml()
    run(stage, [PAGE])
    assert len(run(pickle.loads(pickle.dumps(stage)), [PAGE])[0]) == 1


def test_what_cannot_be_loaded_is_said_at_set_up():
    with pytest.raises(StageError, match="no stop words for 'Klingon'"):
        ExtractHtml(backend="justext", stop_words="Klingon").setup(None)
    with pytest.raises(ConfigError, match="must be positive"):
        ExtractHtml(page_timeout_s=0)


def test_fragments_become_text_in_place(run):
    fragments = ["<p>Fish &amp; <b>chips</b></p>", "no markup", None, "", "a < b", "<ul><li>one<li>two</ul>"]
    rows, _ = run(HtmlToText(preserve_formatting=False), fragments)
    assert [row["text"] for row in rows] == ["Fish & chips", "no markup", None, "", "a < b", "one two"]
    rows, _ = run(HtmlToText(links=True), ["<a href='http://x.org'>link</a>"])
    assert "http://x.org" in rows[0]["text"]


TABLE = "<table><tr><th>Name</th><th>Age</th></tr><tr><td>Ann</td><td>31</td></tr><tr><td>Bob<TD>7</table>"


@pytest.mark.parametrize("backend", ["resiliparse", "trafilatura", "justext"])
@pytest.mark.parametrize("main_content", [True, False])
def test_cells_of_tables_are_apart(backend, main_content, run):
    page = PAGE.replace("<p>", f"{TABLE}<p>", 1)
    text = run(ExtractHtml(backend=backend, main_content=main_content), [page])[0][0]["text"]
    assert not {"NameAge", "Ann31", "Bob7"} & set(text.split())
    if not main_content or backend == "resiliparse":
        assert {"Name", "Age", "Ann", "31", "Bob", "7"} <= set(text.split())


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        ("<td>Ann</td><td>31</td>", "Ann 31"),
        (TABLE, "Name Age\nAnn 31\nBob 7"),
        ("<table><tr><td>A<td>B<tr><td>C<table><tr><td>D<td>E</table></table>", "A B\nC\nD E"),
        ("<title>A &amp; B</title>text", "A & B\n\ntext"),
        ("<button>Press <b>me</b></button>now", "Press me now"),
        ("<label>Size</label> <select><option>S<option>M</select>", "Size S M"),
        ("<textarea>a <b> is no tag</textarea>", "a <b> is no tag"),
        ("<noscript>No scripts</noscript> here", "No scripts here"),
        ("<details><summary>More</summary>text</details>", "More text"),
        ("<fieldset><legend>Address</legend>Street</fieldset>", "Address Street"),
        ("<b>mi</b>xed, H<sub>2</sub>O", "mixed, H2O"),
        ("<script>code()</script><style>p {}</style>text", "text"),
    ],
)
def test_no_text_is_lost_or_glued(fragment, expected, run):
    text = run(HtmlToText(), [fragment])[0][0]["text"]
    # Versions of the library differ in the whitespace that they put between cells.
    assert [line.split() for line in text.splitlines()] == [line.split() for line in expected.splitlines()]


def test_all_visible_text_has_the_form_fields_and_the_main_content_has_not(run):
    page = PAGE.replace("<p>", "<p><label>Size</label> <button>Order</button>", 1)
    everything, main = (run(ExtractHtml(main_content=each), [page])[0][0]["text"] for each in (False, True))
    assert "Size" in everything
    assert "Order" in everything
    assert "Title" not in everything, "the title is not on the page"
    assert "Order" not in main


def test_a_fragment_that_hangs_is_quarantined(run):
    rows, problems = run(HtmlToText(page_timeout_s=0.5), ["<p>fine", HANGING_PAGE, "plain"])
    assert [row["text"] for row in rows] == ["fine", "plain"]
    assert [(problem.row, problem.error_type) for problem in problems] == [(1, "ExtractionTimeout")]
