"""Extraction of text from web pages: ours against datatrove's trafilatura step, on real pages, in one sitting.

The pages are those of Debian's documentation packages, fetched by name into the work folder; datatrove and trafilatura
are installed into a virtual environment of their own there. Recall and precision are of words, as multisets, of our
text against the peer's, over the pages on which the peer finds any.

    python benchmarks/text_extraction.py --work DIR [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
import venv
from collections import Counter
from pathlib import Path

PACKAGES = (
    "apache2-doc", "debian-faq", "debian-handbook", "developers-reference", "git-doc", "postgresql-doc-15",
    "python3.11-doc", "r-doc-html", "sqlite3-doc",
)  # fmt: skip
PEER = ("datatrove==0.10.1", "trafilatura", "lxml_html_clean")
MIN_PAGE_BYTES, MAX_PAGE_BYTES = 2_000, 500_000
ROUNDS = 2

PEER_PROGRAM = """
import json, resource, sys, time
from datatrove.data import Document
from datatrove.pipeline.extractors import Trafilatura

def cpu_s():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

if __name__ == "__main__":
    pages = [json.loads(line)["html"] for line in open(sys.argv[1], encoding="utf-8")]
    step = Trafilatura(timeout=10)
    list(step.run([Document(text=pages[0], id="warm")]))
    best = None
    for _ in range(int(sys.argv[3])):
        documents = [Document(text=page, id=str(number)) for number, page in enumerate(pages)]
        started, cpu = time.perf_counter(), cpu_s()
        texts = {each.id: each.text for each in step.run(documents)}
        figures = (time.perf_counter() - started, cpu_s() - cpu)
        best = min(best or figures, figures)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({"wall_s": best[0], "cpu_s": best[1], "texts": texts}, file)
"""


def fetch_pages(work: Path, count: int) -> list[str]:
    """Return pages of the packages, the same ones every time."""
    folder = work / "pages"
    if not folder.exists():
        debs = work / "debs"
        debs.mkdir(parents=True, exist_ok=True)
        for package in PACKAGES:
            subprocess.run(["apt-get", "download", package], cwd=debs, check=True, capture_output=True)
        for deb in sorted(debs.glob("*.deb")):
            subprocess.run(["dpkg", "-x", deb, folder], check=True)
    files = sorted(path for path in folder.rglob("*.html") if path.is_file() and not path.is_symlink())
    files = [path for path in files if MIN_PAGE_BYTES <= path.stat().st_size <= MAX_PAGE_BYTES]
    random.Random(0).shuffle(files)
    return [path.read_bytes().decode("utf-8", "replace") for path in files[:count]]


def peer_python(work: Path) -> Path:
    """Return the interpreter of the peer's environment, made once."""
    folder = work / "peer"
    python = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER], check=True)
        (folder / ".installed").touch()
    return python


def run_peer(work: Path, pages: list[str]) -> dict:
    """Run datatrove's step in its environment; return wall and CPU seconds and texts by number."""
    program, source, sink = (work / name for name in ("peer.py", "pages.jsonl", "peer.json"))
    program.write_text(PEER_PROGRAM, encoding="utf-8")
    source.write_text("".join(json.dumps({"html": page}) + "\n" for page in pages), encoding="utf-8")
    arguments = [peer_python(work), program, source, sink, str(ROUNDS)]
    subprocess.run(arguments, check=True, capture_output=True)
    return json.loads(sink.read_text(encoding="utf-8"))


def cpu_s() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def run_ours(pages: list[str], **parameters) -> dict:
    """Run our stage; return wall and CPU seconds and texts by number.

    The CPU time of the process beside us is counted when it ends, so each round has a stage of its own.
    """
    from curator_core.authoring.stage import WorkerInfo
    from curator_text import DocumentBatch, ExtractHtml

    batch = DocumentBatch(data={"html": pages})
    best = None
    for _ in range(ROUNDS):
        stage = ExtractHtml(**parameters)
        idle = cpu_s()
        stage.setup(WorkerInfo())
        stage.teardown()
        idle = cpu_s() - idle  # of starting and ending the process
        stage.setup(WorkerInfo())
        cpu, started = cpu_s(), time.perf_counter()
        output = stage.process(batch)
        wall = time.perf_counter() - started
        stage.teardown()
        figures = (wall, cpu_s() - cpu - idle)
        best = min(best or figures, figures)
    return {"wall_s": best[0], "cpu_s": best[1], "texts": dict(enumerate(output.data["text"].to_pylist()))}


def run_unguarded(pages: list[str]) -> dict:
    """Run the bare library in this process: what guarding it costs."""
    from curator_text.extraction.page_extractors import ExtractionSettings, make_extractor

    extract = make_extractor(ExtractionSettings())
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for page in pages:
            extract(page)
        best = min(best, time.perf_counter() - started)
    return {"wall_s": best}


def agreement(ours: dict, peers: dict) -> dict[str, float]:
    """Return recall and precision of words, and on how many pages the peer finds any."""
    shared = theirs = mine = pages = 0
    per_page = []
    for number, text in peers.items():
        wanted, found = Counter(text.split()), Counter((ours[int(number)] or "").split())
        if wanted:
            both = (wanted & found).total()
            shared, theirs, mine, pages = shared + both, theirs + wanted.total(), mine + found.total(), pages + 1
            per_page.append(both / wanted.total())
    return {
        "recall": shared / theirs,
        "precision": shared / mine,
        "mean_page_recall": sum(per_page) / len(per_page),
        "pages": pages,
    }


def run(work: Path, *, quick: bool) -> dict:
    """Measure; what ``--json`` prints."""
    pages = fetch_pages(work, 100 if quick else 500)
    megabytes = sum(len(page.encode()) for page in pages) / 1e6
    peer = run_peer(work, pages)
    ours = run_ours(pages)
    bare = run_unguarded(pages)
    return {
        "pages": len(pages),
        "megabytes": megabytes,
        "datatrove_trafilatura_mb_per_s": megabytes / peer["wall_s"],
        "ours_mb_per_s": megabytes / ours["wall_s"],
        "ours_unguarded_mb_per_s": megabytes / bare["wall_s"],
        "cost_of_guarding": ours["wall_s"] / bare["wall_s"] - 1,
        "speedup_wall": peer["wall_s"] / ours["wall_s"],
        "speedup_cpu": peer["cpu_s"] / ours["cpu_s"],
        **agreement(ours["texts"], peer["texts"]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("benchmark-work/text-extraction"), help="pages and peers")
    parser.add_argument("--quick", action="store_true", help="fewer pages")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = run(arguments.work.resolve(), quick=arguments.quick)
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:<34}{value:>12,.2f}" if isinstance(value, float) else f"{name:<34}{value:>12,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
