"""Compare decoding, resampling and speech detection with peers: ``python benchmarks/audio.py --help``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from audio_comparison.command import main

if __name__ == "__main__":
    raise SystemExit(main())
