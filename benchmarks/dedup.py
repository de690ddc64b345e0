"""Compare deduplication with its peers on this machine: ``python benchmarks/dedup.py --help``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from dedup_comparison.command import main

if __name__ == "__main__":
    raise SystemExit(main())
