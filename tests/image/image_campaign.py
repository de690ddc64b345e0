"""Decode mutants of images through a pipeline, in a process of its own: native code that crashes takes it along.

Usage: python -m tests.image.image_campaign FOLDER SEED FIRST COUNT FORMAT…    prints the outcomes by format as JSON.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import warnings
from collections import Counter
from pathlib import Path

from PIL import Image
from pillow_heif import HeifImageFile

from curator_core import LocalExecutor, Pipeline
from curator_image import Phash, Probe, QualityFilter, ReadFolder
from curator_image.headers import FORMATS as KNOWN
from curator_image.heif import is_heif
from tests.support.mutation import mutate
from tests.support.picture_files import encoded, scene

FILES_PER_RUN = 200
SAMPLES = 6
EXTENSIONS = {"jpeg": "jpg", "png": "png", "webp": "webp", "gif": "gif", "bmp": "bmp", "tiff": "tif", "heif": "heic"}
OPTIONS = {
    "jpeg": [{}, {"progressive": True}],
    "webp": [{}, {"lossless": True}],
    "tiff": [{}, {"compression": "tiff_lzw"}],
}


def sample(name: str, number: int) -> bytes:
    """Return a sound image; numbers differ in content, size and how it is encoded."""
    options = OPTIONS.get(name, [{}])
    picture = scene(number, 60 + 7 * number, 50)
    return encoded(picture, name.upper(), **options[number % len(options)])


def pillow_refuses(data: bytes) -> bool:
    """Say whether Pillow, and pillow-heif, by themselves cannot decode an image."""
    try:
        file = io.BytesIO(data)
        with HeifImageFile(file, "") if is_heif(data) else Image.open(file, formats=KNOWN) as image:
            image.load()
    except Exception:
        return True
    return False


class Campaign:
    """Mutants of one format and what became of them."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.samples = [sample(name, number) for number in range(SAMPLES)]
        self.outcomes: Counter[str] = Counter()
        self.problems: list[str] = []

    def run(self, seed: int, first: int, count: int) -> None:
        for start in range(first, first + count, FILES_PER_RUN):
            self._run_some(seed, range(start, min(start + FILES_PER_RUN, first + count)))

    def _run_some(self, seed: int, indices: range) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        mutants = {}
        for index in indices:
            original, donor = self.samples[index // 10 % SAMPLES], self.samples[(index // 10 + 1) % SAMPLES]
            path = self.folder / f"{index:06}.{EXTENSIONS[self.name]}"
            mutants[str(path)] = (index, original, mutate(original, donor, seed=seed, index=index))
            path.write_bytes(mutants[str(path)][2].data)
        stages = [
            ReadFolder(str(self.folder)),
            Probe(),
            QualityFilter(min_sharpness=None, min_brightness=None, max_brightness=None, min_entropy=None),
            Phash(),
        ]
        result = Pipeline("mutants", stages=stages).run(LocalExecutor(max_attempts=1))
        rows = Counter(row["_source"] for batch in result for row in batch.data.to_pylist() if row["phash"] is not None)
        records = Counter(record.source for record in result.quarantined)
        for record in result.quarantined:
            if record.error_type != "UnreadableImage" or record.row is None:
                self.problems.append(f"{record.source}: {record.error_type}: {record.message[:300]}")
        for path, (index, original, mutant) in mutants.items():
            self._judge(index, original, mutant, rows[path], records[path])
        for path in (rows.keys() | records.keys()) - mutants.keys():
            self.problems.append(f"lost source {path}")

    def _judge(self, index: int, original: bytes, mutant, rows: int, records: int) -> None:
        what = f"{index} ({mutant.operation})"
        if rows + records != 1:
            self.problems.append(f"{what}: {rows} rows and {records} records of one file")
        if records and mutant.data == original:
            self.problems.append(f"{what}: an unchanged file was refused")
        if rows and pillow_refuses(mutant.data):
            self.problems.append(f"{what}: came out, and cannot be decoded")
        self.outcomes["quarantined" if records else "clean"] += 1


def main(folder: str, seed: str, first: str, count: str, *names: str) -> None:
    warnings.simplefilter("ignore")  # of the oracle, about oddities of single files
    reports = {}
    for name in names:
        campaign = Campaign(name, Path(folder) / name)
        campaign.run(int(seed), int(first), int(count))
        reports[name] = {"outcomes": campaign.outcomes, "problems": campaign.problems}
    sys.stdout.write(json.dumps(reports))


if __name__ == "__main__":
    main(*sys.argv[1:])
