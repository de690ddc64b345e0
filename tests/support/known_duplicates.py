"""A corpus with known duplicates."""

import itertools
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq


def jaccard(first, second, ngrams=24):
    one, other = ({text[at : at + ngrams] for at in range(max(1, len(text) - ngrams + 1))} for text in (first, second))
    return len(one & other) / len(one | other)


@dataclass
class Documents:
    """Documents in JSON lines files, some of them copies, some nearly."""

    root: Path
    texts: dict[str, str | None] = field(default_factory=dict)

    @property
    def input(self):
        return self.root / "in"

    def write(self, files=3):
        self.input.mkdir(parents=True, exist_ok=True)
        rows = [{"id": name, "text": text, "score": len(name)} for name, text in self.texts.items()]
        size = -(-len(rows) // files)
        for number, part in enumerate(_cut(rows, size)):
            lines = "".join(json.dumps(row) + "\n" for row in part)
            (self.input / f"{number}.jsonl").write_text(lines, encoding="utf-8")
        return self

    def paths(self, name="run"):
        return {
            "input_path": str(self.input),
            "cache_path": str(self.root / name / "cache"),
            "output_path": str(self.root / name / "out"),
            "id_column": "id",
        }

    def near_pairs(self, threshold, ngrams=24):
        names = [name for name, text in self.texts.items() if text]
        return [
            (one, other)
            for one, other in itertools.combinations(names, 2)
            if jaccard(self.texts[one], self.texts[other], ngrams) >= threshold
        ]


def _cut(rows, size):
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def ids_in(folder):
    found = []
    for path in sorted(Path(folder).glob("part-*")):
        found += [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()]
    return found


def duplicates(result):
    return pq.read_table(result.duplicates_path).to_pylist()


def make_texts(count, seed=0):
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyzäé", k=draw.randint(2, 9))) for _ in range(800)]
    texts = {}
    for number in range(count):
        text = " ".join(draw.choices(words, k=draw.randint(30, 120)))
        texts[f"o{number}"] = text
        if number % 5 == 0:
            texts[f"copy{number}"] = text
        if number % 4 == 0:
            changed = text.split()
            for _ in range(draw.choice([1, 1, 2, 12])):
                changed[draw.randrange(len(changed))] = draw.choice(words)
            texts[f"near{number}"] = " ".join(changed)
    names = list(texts)
    draw.shuffle(names)
    return {name: texts[name] for name in names}
