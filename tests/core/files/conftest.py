"""Fixtures of the tests of files."""

import fsspec
import pytest


@pytest.fixture
def memory():
    """The filesystem in memory, empty before and after."""
    filesystem = fsspec.filesystem("memory")
    filesystem.store.clear()
    yield filesystem
    filesystem.store.clear()
