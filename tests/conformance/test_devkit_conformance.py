"""The devkit is a plugin and keeps the rules that it checks."""

from curator_devkit import plugin
from curator_devkit.testing import parametrize_with_checks


@parametrize_with_checks(plugin)
def test_devkit_conforms(check):
    check()
