"""Run core's and text's tests on the oldest Python found, with the lowest versions declared (``make test-lowest``)."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from interpreters import installed
from trial_environment import PYPROJECTS, Trial, report

LOWER_BOUND = re.compile(r'^ +"(?P<name>[\w.-]+)(?:\[[\w,-]+\])?>=(?P<version>[\w.]+)', flags=re.MULTILINE)


def lowest_bounds(pyproject: str) -> list[str]:
    r"""Turn the lower bounds of a pyproject file's dependencies, one on a line, into exact versions.

    >>> lowest_bounds('dependencies = [\n    "polars>=1.20",\n    "curator-core~=0.1",\n]')
    ['polars==1.20']
    """
    return [f"{bound['name']}=={bound['version']}" for bound in LOWER_BOUND.finditer(pyproject)]


def main() -> int:
    """Return 0 if the tests pass."""
    interpreters = installed() or {(sys.version_info.major, sys.version_info.minor): Path(sys.executable)}
    bounds = [bound for path in PYPROJECTS for bound in lowest_bounds(path.read_text(encoding="utf-8"))]
    return report([Trial("lowest", interpreters[min(interpreters)], bounds)], sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
