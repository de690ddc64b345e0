"""The video recipes in examples/, each run as a user would, on a few videos whose fate is known."""

import json
from pathlib import Path

from curator_core.cli import main
from tests.support.golden import check_golden
from tests.support.made_videos import make_video

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_video_clips(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    make_video(tmp_path / "in" / "a.mp4", scenes=(24, 24))
    make_video(tmp_path / "in" / "still.mp4", scenes=(24,), moves=False)
    make_video(tmp_path / "in" / "short.mp4", scenes=(6,))
    (tmp_path / "in" / "bad.mp4").write_bytes(b"no video")
    settings = ["--set", f"INPUT={tmp_path / 'in'}", "--set", f"OUTPUT={tmp_path / 'out'}"]
    pipeline = str(EXAMPLES / "video-clips" / "pipeline.yaml")
    assert main(["run", pipeline, *settings, "--executor", "local", "--quiet", "--json"]) == 3, "one file is bad"
    capsys.readouterr()
    check_golden("video-clips", tmp_path / "out")
    rows = [json.loads(line) for path in (tmp_path / "out").glob("*.jsonl") for line in path.read_text().splitlines()]
    assert [(Path(row["uri"]).name, row["start_s"], row["end_s"]) for row in rows] == [("a.mp4", 0, 2), ("a.mp4", 2, 4)]
    assert all((tmp_path / "out" / row["clip_file"]).exists() for row in rows)
