"""The text recipes in examples/, each run as a user would, on a few documents whose fate is known."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.golden import check_golden

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GARDEN = """The garden behind the old house had been left alone for many years before the new owners arrived.
They found apple trees that nobody had pruned, and a well that was covered with flat stones and moss.
In the first summer they cut a path through the nettles and built a bench from the wood of a fallen elm.
Their neighbours brought seedlings and stories, and told them where the previous gardener used to grow his beans.
By the autumn of the second year there was enough fruit to share with everyone who had helped them.
Winter came early, but the roots held, and the house smelled of apples until the snow had gone.
When spring returned they began to write down what they had learned, so that others could do the same."""
HARBOUR = """Ships have called at this harbour since the time when the river was still deep enough for them to turn.
The customs house was built of brick, with a clock that the whole town could see from the opposite bank.
Merchants kept their letters here, and a clerk copied each of them into a book that still exists today.
After the railway opened the quays fell silent, although fishermen continued to mend their nets along the wall.
A museum now occupies the lower floor, where visitors may read the letters and hear the clock strike noon.
To reach the curator of the collection, write to letters@harbour-museum.org and ask for an appointment.
The building remains open on most days, and entrance is free for people who live in the town."""
GERMAN = """Der Garten hinter dem alten Haus war viele Jahre lang sich selbst überlassen, bevor die Besitzer kamen.
Sie fanden Apfelbäume, die niemand beschnitten hatte, und einen Brunnen, der mit flachen Steinen bedeckt war.
Im ersten Sommer schnitten sie einen Weg durch die Brennnesseln und bauten eine Bank aus einer gefallenen Ulme.
Die Nachbarn brachten Setzlinge und erzählten, wo der frühere Gärtner seine Bohnen gezogen hatte."""
PYTHON = '''"""Areas of simple shapes, for the exercises of the first chapter."""

import math

# Sent when a length is negative: no shape has such a side.
MESSAGE = "a length is zero or more"


def circle(radius):
    """Return the area of a circle."""
    if radius < 0:
        raise ValueError(MESSAGE)
    return math.pi * radius**2


CONTACT = "someone@shapes-and-areas.org"
'''


def run(name, folder, *options):
    pipeline = EXAMPLES / name / "pipeline.yaml"
    settings = ["--set", f"INPUT={folder / 'in'}", "--set", f"OUTPUT={folder / 'out'}"]
    command = [sys.executable, "-m", "curator_core", "run", str(pipeline), "--executor", "local", *settings, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    check_golden(name, folder / "out")


def archive(pages):
    members = []
    for number, html in enumerate(pages):
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html.encode()
        head = [
            "WARC/1.0",
            "WARC-Type: response",
            f"WARC-Record-ID: <urn:uuid:{number}>",
            f"WARC-Target-URI: https://example.org/{number}",
            "WARC-Date: 2026-11-16T10:00:00Z",
            "Content-Type: application/http; msgtype=response",
            f"Content-Length: {len(block)}",
        ]
        members.append(gzip.compress("\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"))
    return b"".join(members)


def page(text):
    paragraphs = "".join(f"<p>{line}</p>" for line in text.split("\n"))
    menu = "".join(f"<li><a href='/{n}'>Section {n}</a></li>" for n in range(20))
    return f"<html><body><nav><ul>{menu}</ul></nav><main><article>{paragraphs}</article></main></body></html>"


@pytest.mark.slow
def test_web_clean_keeps_english_prose_without_menus_and_addresses(tmp_path):
    spam = "\n".join(["Buy the best watches to be seen with and that have the lowest price of all."] * 12)
    (tmp_path / "in").mkdir()
    pages = [page(GARDEN), page(GERMAN), page(spam), page(HARBOUR), page("Too short.")]
    (tmp_path / "in" / "crawl.warc.gz").write_bytes(archive(pages))
    run("web-clean", tmp_path)
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert [row["url"] for row in rows] == ["https://example.org/0", "https://example.org/3"]
    assert all(row["language"] == "en" for row in rows)
    assert rows[0]["text"].splitlines() == GARDEN.splitlines() or rows[0]["text"].split() == GARDEN.split()
    assert "letters@harbour-museum.org" not in rows[1]["text"]
    assert "<email>" in rows[1]["text"]


@pytest.mark.slow
def test_code_cleaning_keeps_commented_code(tmp_path):
    files = {
        "shapes/areas.py": PYTHON,
        "shapes/table.py": "# numbers\nTABLE = [\n" + "    1.0, 2.0, 3.0,\n" * 200 + "]\n",
        "shapes/bare.py": "x = 1\ny = 2\n" * 20,
        "shapes/grammar.py": "# This file is auto-generated; do not edit.\n" + PYTHON,
        "shapes/wrong.py": '<?xml version="1.0"?>\n' + "<a>text of it</a>\n" * 20,
        "notes.txt": "not code",
    }
    for name, text in files.items():
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run("code-cleaning", tmp_path)
    rows = [json.loads(line) for path in (tmp_path / "out").glob("*.jsonl") for line in path.read_text().splitlines()]
    assert [Path(row["_source"]).name for row in rows] == ["areas.py"]
    assert rows[0]["text"] == PYTHON.replace("someone@shapes-and-areas.org", "<email>")
    assert len(rows[0]["content_hash"]) > 0


@pytest.mark.slow
def test_split_by_language_gives_each_language_a_folder(tmp_path):
    russian = "Погода была хорошая, и мы шли по холмам, пока не пришли к морю."
    chinese = "今天的天气非常好我们翻过山丘一直走到了海边。\n我们在那里坐到了晚上。"
    mojibake = GERMAN.encode().decode("latin-1")
    texts = [GARDEN, mojibake, russian, chinese, HARBOUR, "Same line again.\n" * 20, "?! ... 12", None]
    (tmp_path / "in").mkdir()
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(texts)]
    (tmp_path / "in" / "corpus.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("split-by-language", tmp_path)
    folders = {path.name: path for path in (tmp_path / "out").iterdir()}
    assert sorted(folders) == ["de", "en", "ru", "statistics", "zh"]
    assert pq.read_table(folders["en"])["id"].to_pylist() == [0, 4]
    assert pq.read_table(folders["de"])["text"].to_pylist() == [GERMAN]
    assert pq.read_table(folders["zh"])["text"].to_pylist() == [chinese]
    assert "ru" in (folders["statistics"] / "summary.txt").read_text(encoding="utf-8")
