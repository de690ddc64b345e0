"""Say clearly that this Python is too old, instead of failing later for a reason nobody can read.

Runs on any Python 3 (and 2.7), so it uses nothing newer.
"""

import sys

OLDEST = (3, 10)

if sys.version_info < OLDEST:
    sys.stderr.write(
        "curator needs Python %d.%d or newer; %s is Python %d.%d.\n"  # noqa: UP031
        "Name another one: make venv PYTHON=/path/to/python3\n" % (OLDEST + (sys.executable,) + sys.version_info[:2])  # noqa: RUF005
    )
    sys.exit(1)
