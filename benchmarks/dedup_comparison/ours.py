"""What curator-dedup does: a program for this environment.

Usage: python ours.py CASE ARGUMENTS…. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from dedup_comparison import ours_scale, ours_text

CASES = {
    "signatures": ours_text.signatures,
    "memory": ours_text.memory,
    "files": ours_text.files,
    "recall": ours_text.recall,
    "exact": ours_scale.exact,
    "semantic": ours_scale.semantic,
    "scale": ours_scale.scale,
}

if __name__ == "__main__":
    print(json.dumps(CASES[sys.argv[1]](*sys.argv[2:])))
