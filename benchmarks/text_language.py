"""Language identification: accuracy and speed on package descriptions that people have translated.

The corpus is made of Debian's Translation indices (``apt-get`` fetches them into the work folder), in which every
description exists in English and in some of about thirty languages. A document is labelled by the index it is in; one
that shares a line with its English original is not fully translated and left out.

    python benchmarks/text_language.py --work DIR [--quick] [--json]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

LANGUAGES = (
    "en", "de", "fr", "es", "it", "ja", "pl", "pt", "pt_BR", "ru", "zh_CN", "zh_TW", "ko", "cs", "sk", "sv", "da", "nl",
    "fi", "hu", "uk", "ca", "eu", "gl", "eo", "hr", "sl", "ro", "bg", "tr", "vi", "el", "he", "fa", "ar", "km", "sr",
    "nb", "nn", "lt", "lv", "et", "hi", "id", "th", "ta", "te", "ml", "is", "ga", "cy", "bn", "ur", "ms",
)  # fmt: skip
LABELS = {"pt_BR": "pt", "zh_CN": "zh", "zh_TW": "zh", "nb": "no"}
SAME = {"hr": {"hr", "sh", "bs", "sr"}, "sr": {"sr", "sh", "hr", "bs"}, "no": {"no", "nn", "da"}}
"""Standards of one language, or nearly: Bosnian, Croatian and Serbian. Used for the lenient figure only."""
MIN_CHARS = 100
SHARED_LINE_CHARS = 20
ROUNDS = 3


def fetch_indices(work: Path) -> list[Path]:
    """Return the Translation indices, fetched once into ``work``."""
    lists = (work / "lists").resolve()  # apt looks for others below its own folder
    if not list(lists.glob("*Translation-en")):
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        options = {
            "Dir::State::lists": str(lists),
            "Acquire::Languages": ",".join(LANGUAGES),
            "Acquire::GzipIndexes": "false",
        }
        arguments = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        subprocess.run(["apt-get", *arguments, "update"], check=True, stdout=subprocess.DEVNULL)
    return sorted(path for path in lists.glob("*Translation-*") if "security" not in path.name)


def descriptions(path: Path) -> dict[str, str]:
    """Return the descriptions of an index by the checksum of their English original."""
    found = {}
    for entry in path.read_text(encoding="utf-8").split("\n\n"):
        checksum = re.search(r"^Description-md5: (\w+)$", entry, re.MULTILINE)
        text = re.search(r"^Description-(?!md5)[\w@]+: (.*(?:\n .*)*)", entry, re.MULTILINE)
        if checksum and text:
            lines = [line.removeprefix(" ") for line in text[1].split("\n")]
            found[checksum[1]] = "\n".join("" if line == "." else line for line in lines)
    return found


def labelled_documents(work: Path, per_language: int) -> list[tuple[str, str]]:
    """Return pairs of language and text, the same ones every time."""
    by_language: dict[str, dict[str, str]] = {}
    for path in fetch_indices(work):
        label = unquote(path.name.rpartition("Translation-")[2])
        by_language.setdefault(label, {}).update(descriptions(path))
    english = by_language["en"]
    documents = []
    for label, texts in sorted(by_language.items()):
        chosen = []
        for checksum in sorted(texts, key=lambda each: hashlib.sha1(each.encode()).digest()):
            text = texts[checksum]
            original = "" if label == "en" else english.get(checksum, "")
            shared = any(len(line) >= SHARED_LINE_CHARS and line in original for line in text.split("\n"))
            if len(text) >= MIN_CHARS and not shared and "<trans>" not in text:
                chosen.append((LABELS.get(label, label), text))
            if len(chosen) == per_language:
                break
        documents += chosen
    return documents


def measure(documents: list[tuple[str, str]], **parameters) -> dict[str, object]:
    """Label the documents; return accuracy and documents per CPU second, the best of some rounds."""
    import pyarrow as pa

    from curator_core.authoring.stage import WorkerInfo
    from curator_text import DocumentBatch, LanguageId

    stage = LanguageId(**parameters)
    stage.setup(WorkerInfo())
    batch = DocumentBatch(data=pa.table({"text": [text for _, text in documents]}))
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        output = stage.process(batch)
        best = min(best, time.process_time() - started)
    found = output.data["language"].to_pylist()
    truth = [label for label, _ in documents]
    right = sum(one == other for one, other in zip(found, truth, strict=True))
    lenient = sum(one in SAME.get(other, {other}) for one, other in zip(found, truth, strict=True))
    wrong = Counter((other, one) for one, other in zip(found, truth, strict=True) if one != other)
    return {
        "accuracy": right / len(documents),
        "accuracy_lenient": lenient / len(documents),
        "documents_per_cpu_s": len(documents) / best,
        "confused": [f"{truth} as {found}: {count}" for (truth, found), count in wrong.most_common(6)],
    }


def run(work: Path, *, quick: bool) -> dict[str, object]:
    """Measure all settings; what ``--json`` prints."""
    documents = labelled_documents(work, per_language=60 if quick else 1500)
    sizes = Counter(label for label, _ in documents)
    settings = {
        "default": {},
        "all characters": {"max_chars": None},
        "400 characters": {"max_chars": 400},
        "80 characters": {"max_chars": 80},
        "cld2": {"backend": "cld2"},
    }
    return {
        "documents": len(documents),
        "languages": len(sizes),
        "characters": sum(len(text) for _, text in documents),
        "settings": {name: measure(documents, **parameters) for name, parameters in settings.items()},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("benchmark-work/text-language"), help="folder for the corpus")
    parser.add_argument("--quick", action="store_true", help="a smaller corpus")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = run(arguments.work, quick=arguments.quick)
    if arguments.json:
        print(json.dumps(result))
        return 0
    print(f"{result['documents']:,} documents, {result['languages']} languages, {result['characters']:,} characters")
    for name, figures in result["settings"].items():
        print(
            f"{name:<16}{figures['accuracy']:>8.2%} ({figures['accuracy_lenient']:.2%} lenient)"
            f"{figures['documents_per_cpu_s']:>10,.0f} documents/CPU-s   {'; '.join(figures['confused'][:3])}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
