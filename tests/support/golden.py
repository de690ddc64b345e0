"""Compare what a recipe writes with what it wrote when its output was last looked at."""

import gzip
import hashlib
import json
import os
import re
import tarfile
from pathlib import Path

import pyarrow.parquet as pq

GOLDEN = Path(__file__).resolve().parents[1] / "examples" / "golden"
UPDATE = "CURATOR_UPDATE_GOLDEN"
_TASK_ID = re.compile(r"(?<=part-)[0-9a-f]{8,}|(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")


def check_golden(recipe, folder, *, without=()):
    """Compare the files in a folder with ``tests/examples/golden/RECIPE.json``.

    Ids of tasks and of paths, and the folder's own path, are replaced: they depend on where the input is. Floats are
    rounded. Set ``CURATOR_UPDATE_GOLDEN=1`` to write the file anew, and read the difference before it is committed.

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
    assert found == json.loads(expected.read_text(encoding="utf-8"))


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
        return {"members": {_neutral(name, folder): _shown(each, folder) for name, each in members.items()}}
    return {"content": _shown(data, folder)}


def _rows(lines, folder, without):
    rows = [_neutral(json.loads(line), folder) for line in lines]
    return [{name: value for name, value in row.items() if name not in without} for row in rows]


def _shown(data, folder):
    """Return text as it is, and the digest of anything else."""
    try:
        return _neutral(data.decode(), folder)
    except UnicodeDecodeError:
        return hashlib.sha256(data).hexdigest()


def _neutral(value, folder):
    if isinstance(value, str):
        return _TASK_ID.sub("TASK", value.replace(str(folder.parent), "TMP"))
    if isinstance(value, dict):
        return {key: _neutral(each, folder) for key, each in value.items()}
    if isinstance(value, list):
        return [_neutral(each, folder) for each in value]
    return round(value, 4) if isinstance(value, float) else value
