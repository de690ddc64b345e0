"""``python -m curator_core`` is the command ``curator``."""

from __future__ import annotations

import sys

from curator_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
