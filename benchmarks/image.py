"""Compare images' decoding, filtering and tar reading with peers: ``python benchmarks/image.py --help``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from image_comparison.command import main

if __name__ == "__main__":
    raise SystemExit(main())
