"""The dedup plugin keeps the rules."""

from curator_dedup import plugin
from curator_devkit.testing import parametrize_with_checks


@parametrize_with_checks(plugin)
def test_dedup_conforms(check):
    check()
