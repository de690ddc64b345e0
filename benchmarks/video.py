"""Compare the video stages with plain loops on real videos: ``python benchmarks/video.py --help``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from video_comparison.command import main

if __name__ == "__main__":
    raise SystemExit(main())
