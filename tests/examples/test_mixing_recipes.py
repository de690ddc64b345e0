"""The recipes for mixing and for instruction data, run on a few rows whose fate is known."""

import collections
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from curator_core.cli import main
from curator_core.registry import default_registry
from tests.support.golden import check_golden

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_lines(folder):
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def run(recipe, capsys, **variables):
    settings = [part for name, value in variables.items() for part in ("--set", f"{name}={value}")]
    status = main(["run", str(EXAMPLES / recipe), "--executor", "local", "--json", *settings])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


@pytest.fixture
def mixed(tmp_path, capsys):
    """The output of the first part, for ten documents of three kinds."""
    rows = [{"text": f"high {n}", "edu_score": 4.5, "fluency_score": 0.9} for n in range(2)]
    rows += [{"text": f"medium {n}", "edu_score": 2.5, "fluency_score": 0.5} for n in range(3)]
    rows += [{"text": f"low {n}", "edu_score": 0.5, "fluency_score": None} for n in range(4)]
    rows += [{"text": "unscored", "edu_score": None, "fluency_score": None}]
    write_lines(tmp_path / "in" / "scored.jsonl", rows)
    report = run("score-bucket-upsample/pipeline.yaml", capsys, INPUT=tmp_path / "in", OUTPUT=tmp_path / "out")
    check_golden("score-bucket-upsample", tmp_path / "out")
    return tmp_path / "out", report


def test_high_documents_are_repeated_and_every_bucket_has_its_folder(mixed):
    output, report = mixed
    written = {folder.name: [row["text"] for row in read_lines(folder)] for folder in (output / "buckets").iterdir()}
    counts = {bucket: collections.Counter(texts) for bucket, texts in written.items()}
    assert counts["high"] == {"high 0": 3, "high 1": 3}
    assert counts["medium"] == {f"medium {n}": 1 for n in range(3)}
    assert counts["low"] == {f"low {n}": 1 for n in range(4)}
    assert counts["(null)"] == {"unscored": 1}
    assert report["rows_out"] == 14
    summary = json.loads((output / "statistics" / "summary.json").read_text())
    assert {name: group["rows"] for name, group in summary["groups"].items()} == {
        "(all)": 10,
        "low": 4,
        "medium": 3,
        "high": 2,
        "(null)": 1,
    }
    assert "bucket = high: 2" in (output / "statistics" / "summary.txt").read_text()


class FakeModel(BaseHTTPRequestHandler):
    """Answers every request with the text asked about, in capitals."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = request["messages"][-1]["content"].rpartition("\n")[2].upper()
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
        body = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def test_low_documents_are_rewritten(mixed, capsys):
    if "text.llm" not in default_registry().stages:
        pytest.skip("text.llm is not installed")
    output, _ = mixed
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeModel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        endpoint = f"http://127.0.0.1:{server.server_port}/v1"
        run("score-bucket-upsample/rewrite.yaml", capsys, OUTPUT=output, ENDPOINT=endpoint, MODEL="fake")
    finally:
        server.shutdown()
        server.server_close()
    check_golden("score-bucket-upsample-rewrite", output / "rewritten")
    assert sorted(row["rewritten"] for row in read_lines(output / "rewritten")) == [f"LOW {n}" for n in range(4)]


QUESTION = "A train leaves at nine and travels two hundred miles in four hours, how fast is it going on average?"


def test_instruction_pairs_are_cleaned(tmp_path, capsys):
    pairs = [
        ("Name the capital of  France.", '"Paris\u00c3\u00a9."', "kept"),
        ("Write a short mail to ann@example.org about tea.", "Dear Ann,\r\n\r\n\r\n\r\ncall +49 30 901820.", "kept"),
        ("Too short", "An answer.", "too_short"),
        ("Tell me how to do that.", "", "too_short"),
        ("Tell me how to do this.", "As an AI language model, I cannot.", "matched"),
        ("Repeat after me, please.", "repeat after me, please.", "not_matched"),
        (f"Solve: {QUESTION}", "Fifty miles an hour.", "contaminated: arithmetic"),
        (None, "An answer without a question.", "missing_value"),
    ]
    write_lines(tmp_path / "in" / "pairs.jsonl", [{"instruction": i, "output": o} for i, o, _ in pairs])
    write_lines(tmp_path / "benchmarks" / "arithmetic.jsonl", [{"question": QUESTION, "answer": "50"}])
    report = run(
        "instruction-cleaning/pipeline.yaml",
        capsys,
        INPUT=tmp_path / "in",
        OUTPUT=tmp_path / "out",
        BENCHMARKS=tmp_path / "benchmarks",
    )
    check_golden("instruction-cleaning", tmp_path / "out")
    rows = read_lines(tmp_path / "out")
    assert [(row["instruction"], row["output"]) for row in rows] == [
        ("Name the capital of France.", "Parisé."),
        ("Write a short mail to <email> about tea.", "Dear Ann,\n\ncall <phone>."),
    ]
    assert all(row["id"].startswith("pair-") for row in rows)
    assert report["dropped"] == dict(collections.Counter(fate for *_, fate in pairs if fate != "kept"))
