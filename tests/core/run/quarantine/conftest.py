import pytest

from tests.support.retry_work import Work


@pytest.fixture
def work(tmp_path):
    return Work(tmp_path)
