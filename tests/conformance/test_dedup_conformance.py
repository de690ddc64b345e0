"""The dedup plugin keeps the rules."""

from curator_core.testing import parametrize_with_checks
from curator_dedup import plugin


@parametrize_with_checks(plugin)
def test_dedup_conforms(check):
    check()
