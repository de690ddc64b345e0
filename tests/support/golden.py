"""Compare what a recipe writes with what it wrote when its output was last looked at."""

import gzip
import hashlib
import io
import json
import os
import re
import tarfile
from pathlib import Path

import av
import pyarrow.parquet as pq
import pytest

GOLDEN = Path(__file__).resolve().parents[1] / "examples" / "golden"
UPDATE = "CURATOR_UPDATE_GOLDEN"
_TASK_ID = re.compile(r"(?<=part-)[0-9a-f]{8,}|(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")


def check_golden(recipe, folder, *, without=()):
    """Compare the files in a folder with ``tests/examples/golden/RECIPE.json``.

    Ids of tasks and of paths, and the folder's own path, are replaced: they depend on where the input is. Floats may
    differ a little, and of videos only the shape of their streams is compared: encoders and models that compute with
    floats give other bits on other processors. Set ``CURATOR_UPDATE_GOLDEN=1`` to write the file anew, and read the
    difference before it is committed.

    Args:
        recipe: Name of the recipe.
        folder: What it has written.
        without: Columns that depend on the machine, such as the answers of a model.
    """
    folder = Path(folder)
    found = [
        {"file": _neutral(str(path.relative_to(folder)), folder), **_content(path, folder, without)}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    found.sort(key=lambda each: json.dumps(each, sort_keys=True))
    expected = GOLDEN / f"{recipe}.json"
    if os.environ.get(UPDATE):
        expected.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    assert found == _about(json.loads(expected.read_text(encoding="utf-8")))


def _about(value):
    """Let floats differ in their last digits."""
    if isinstance(value, dict):
        return {key: _about(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_about(each) for each in value]
    return pytest.approx(value, rel=1e-3, abs=1e-3) if isinstance(value, float) else value


def _content(path, folder, without):
    data = path.read_bytes()
    if path.suffix == ".gz":
        data, path = gzip.decompress(data), path.with_suffix("")
    if path.suffix == ".jsonl":
        return {"rows": _rows(data.decode().splitlines(), folder, without)}
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        rows = _rows([json.dumps(row, default=str) for row in table.to_pylist()], folder, without)
        return {"columns": {field.name: str(field.type) for field in table.schema}, "rows": rows}
    if path.suffix == ".tar":
        with tarfile.open(path) as archive:
            members = {member.name: archive.extractfile(member).read() for member in archive}
        return {"members": {_neutral(name, folder): _shown(name, each, folder) for name, each in members.items()}}
    return {"content": _shown(path.name, data, folder)}


def _rows(lines, folder, without):
    rows = [_neutral(json.loads(line), folder) for line in lines]
    return [{name: value for name, value in row.items() if name not in without} for row in rows]


def _shown(name, data, folder):
    """Return JSON as values, the streams of a video, other text as it is, and the digest of anything else."""
    if name.endswith(".json"):
        return _neutral(json.loads(data), folder)
    if name.endswith(".mp4"):
        return _streams(data)
    try:
        return _neutral(data.decode(), folder)
    except UnicodeDecodeError:
        return hashlib.sha256(data).hexdigest()


def _streams(data):
    with av.open(io.BytesIO(data)) as video:
        streams = [
            {"codec": each.codec_context.name, "duration_s": round(float(each.duration * each.time_base), 2)}
            for each in video.streams
        ]
        picture = video.streams.video[0]
        frames = sum(1 for _ in video.decode(picture))
        return {"streams": streams, "frames": frames, "width": picture.width, "height": picture.height}


def _neutral(value, folder):
    if isinstance(value, str):
        return _TASK_ID.sub("TASK", value.replace(str(folder.parent), "TMP"))
    if isinstance(value, dict):
        return {key: _neutral(each, folder) for key, each in value.items()}
    if isinstance(value, list):
        return [_neutral(each, folder) for each in value]
    return round(value, 4) if isinstance(value, float) else value
