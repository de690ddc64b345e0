"""Images through tar archives and Parquet files: bytes untouched, keys kept, the same on every executor."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from curator_core import LocalExecutor, Pipeline, StreamingExecutor
from curator_core.cli import main
from curator_image import (
    AspectFilter,
    Phash,
    QualityFilter,
    ReadFolder,
    ReadTar,
    SizeFilter,
    WriteTar,
)
from curator_table import ReadParquet, WriteParquet
from tests.support.golden import check_golden
from tests.support.picture_files import blurred, encoded, scene

FORMATS = {"jpg": "JPEG", "png": "PNG", "webp": "WEBP", "gif": "GIF", "bmp": "BMP", "tif": "TIFF"}


def add(tar, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Two archives: images of every format with captions, one blurred, one too small, one broken."""
    folder = tmp_path_factory.mktemp("shards")
    originals = {}
    for shard in range(2):
        with tarfile.open(folder / f"{shard}.tar", "w") as tar:
            for number, (extension, file_format) in enumerate(FORMATS.items()):
                key = f"shard{shard}/{number:03}"
                content = encoded(scene(shard * 10 + number, 260, 220), file_format)
                originals[key] = (extension, content)
                add(tar, f"{key}.{extension}", content)
                add(tar, f"{key}.txt", f"caption of {key}".encode())
                add(tar, f"{key}.json", json.dumps({"n": number}).encode())
            add(tar, f"shard{shard}/blurred.jpg", encoded(blurred(scene(3, 260, 220), 20)))
            add(tar, f"shard{shard}/small.png", encoded(scene(4, 50, 50), "PNG"))
            add(tar, f"shard{shard}/broken.jpg", encoded(scene(5, 260, 220))[:3000])
    return folder, originals


def stages(shards, output):
    return [
        ReadTar(str(shards)),
        SizeFilter(min_width=100, min_height=100),
        AspectFilter(),
        QualityFilter(),
        Phash(),
        WriteTar(str(output)),
    ]


def members(folder):
    found = {}
    for path in sorted(Path(folder).glob("*.tar")):
        with tarfile.open(path) as tar:
            found |= {info.name: tar.extractfile(info).read() for info in tar}
    return found


def check(result, output, originals):
    found = members(output)
    for key, (extension, content) in originals.items():
        assert hashlib.sha256(found[f"{key}.{extension}"]).digest() == hashlib.sha256(content).digest()
        assert found[f"{key}.txt"] == f"caption of {key}".encode()
        assert json.loads(found[f"{key}.json"]).keys() == {"n", "phash"}
    assert len(found) == 3 * len(originals)
    assert sum(task.num_items for task in result) == len(originals)
    assert result.stats["image.size_filter"].dropped == {"too_narrow": 2}
    assert result.stats["image.quality_filter"].dropped == {"blurred": 2}
    assert result.quarantined_count == 2


def test_what_is_kept_comes_out_as_it_went_in(shards, tmp_path):
    folder, originals = shards
    result = Pipeline(stages=stages(folder, tmp_path)).run(LocalExecutor())
    check(result, tmp_path, originals)
    assert [record.source for record in result.quarantined] == [str(folder / "0.tar"), str(folder / "1.tar")]
    with tarfile.open(folder / "0.tar") as tar:
        assert result.quarantined[0].row == tar.getmember("shard0/broken.jpg").offset


def test_the_streaming_executor_makes_the_same_files(shards, tmp_path, ray_session):
    folder, originals = shards
    Pipeline(stages=stages(folder, tmp_path / "local")).run(LocalExecutor())
    result = Pipeline(stages=stages(folder, tmp_path / "streaming")).run(StreamingExecutor())
    check(result, tmp_path / "streaming", originals)
    names = sorted(path.name for path in (tmp_path / "local").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "streaming").iterdir())
    for name in names:
        assert (tmp_path / "local" / name).read_bytes() == (tmp_path / "streaming" / name).read_bytes()


def test_parquet_keeps_the_bytes(shards, tmp_path):
    folder, originals = shards
    Pipeline(stages=[ReadTar(str(folder)), SizeFilter(min_width=1, min_height=1), WriteParquet(str(tmp_path))]).run()
    (batch,) = Pipeline(stages=[ReadParquet(str(tmp_path))]).run(LocalExecutor())
    rows = {row["key"]: row for row in batch.data.to_pylist()}
    for key, (_, content) in originals.items():
        assert rows[key]["bytes"] == content


EXAMPLE = Path(__file__).parents[2] / "examples" / "image-unique" / "pipeline.yaml"


def test_duplicates_are_removed_by_one_file_of_steps(tmp_path, capsys):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for number in range(6):
            picture = scene(number, 360, 270)
            add(tar, f"{number}.png", encoded(picture, "PNG"))
            add(tar, f"{number}.txt", f"caption {number}".encode())
            add(tar, f"{number}_again.png", encoded(picture, "PNG"))
            add(tar, f"{number}_small.jpg", encoded(picture.resize((280, 210)), "JPEG", quality=60))
        add(tar, "blank.png", encoded(scene(9, 360, 270).point(lambda value: 9), "PNG"))
    settings = ["--set", f"INPUT={tmp_path / 'a.tar'}", "--set", f"OUTPUT={tmp_path / 'out'}"]
    assert main(["run", str(EXAMPLE), *settings, "--quiet"]) == 0, capsys.readouterr()
    check_golden("image-unique", tmp_path / "out" / "shards")
    found = members(tmp_path / "out" / "shards")
    assert sorted(name for name in found if name.endswith((".png", ".jpg"))) == [f"{n}.png" for n in range(6)]
    for number in range(6):
        assert found[f"{number}.png"] == encoded(scene(number, 360, 270), "PNG")
        assert found[f"{number}.txt"] == f"caption {number}".encode()


def keys_in(folder, *paths):
    """Return the names of the members that the images of some folders are written to."""
    stages = [ReadFolder([str(path) for path in paths]), WriteTar(str(folder), json_columns=[])]
    result = Pipeline(stages=stages).run(LocalExecutor())
    assert not result.quarantined
    with tarfile.open(result[0].paths[0]) as archive:
        return [member.name for member in archive]


def test_members_are_named_by_their_path_in_the_folder_wherever_it_is(tmp_path):
    names = ["a.jpg", "sub/b.v2.png", "sub/v1.0/c.webp"]
    written = []
    for mount in ("here", "there/and/deeper"):
        for name in names:
            (tmp_path / mount / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / mount / "photos" / name).write_bytes(b"x")
        written.append(keys_in(tmp_path / mount / "out", tmp_path / mount / "photos"))
    assert written == [["a.jpg", "sub/b_v2.png", "sub/v1.0/c.webp"]] * 2
    assert keys_in(tmp_path / "one", tmp_path / "here/photos/sub/b.v2.png") == ["b_v2.png"]
    assert keys_in(tmp_path / "glob", tmp_path / "here/photos/*/*.png") == ["sub/b_v2.png"]
    (batch,) = Pipeline(stages=[ReadTar(str(tmp_path / "here/out"))]).run(LocalExecutor())
    assert batch.data["key"].to_pylist() == ["a", "sub/b_v2", "sub/v1.0/c"]


def test_files_that_would_share_a_key_are_told_apart(tmp_path):
    for name in ("x/cat.jpg", "x/cat.png", "x/dog_1.jpg", "x/dog.1.jpg", "y/cat.jpg", "y/bird.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    names = keys_in(tmp_path / "out", tmp_path / "x", tmp_path / "y")
    assert len({name.partition(".")[0] for name in names}) == 6
    assert [name.partition("-")[0] for name in names] == ["cat", "cat", "dog_1", "dog_1", "bird.jpg", "cat"]
    (tmp_path / "elsewhere").mkdir()
    for folder in ("x", "y"):
        (tmp_path / folder).rename(tmp_path / "elsewhere" / folder)
    assert keys_in(tmp_path / "again", tmp_path / "elsewhere/x", tmp_path / "elsewhere/y") == names
    alone = keys_in(tmp_path / "alone", tmp_path / "elsewhere/y")
    assert alone == ["bird.jpg", "cat.jpg"]
