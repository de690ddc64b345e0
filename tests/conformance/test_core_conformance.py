"""Core keeps the rules that plugins must keep."""

from curator_core import plugin
from curator_devkit.testing import parametrize_with_checks


@parametrize_with_checks(plugin)
def test_core_conforms(check):
    check()
