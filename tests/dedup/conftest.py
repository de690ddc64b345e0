"""Fixtures of the tests of deduplication."""

import pytest

from tests.support.known_duplicates import Documents, make_texts


@pytest.fixture
def documents(tmp_path):
    """Documents with known copies and near-copies, in three files."""
    return Documents(tmp_path, make_texts(150)).write()
