"""The token of a Ray that is started here: made by us, for its owner only."""

import stat

import pytest

from curator_core.executors.ray.own_session import make_token_private
from curator_core.values.errors import ClusterError


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_new_token_is_private_and_random(home):
    make_token_private({})
    token = home / ".ray" / "auth_token"
    assert (mode(token), mode(token.parent)) == (0o600, 0o700)
    first = token.read_text()
    assert len(first) == 64
    assert [path.name for path in token.parent.iterdir()] == ["auth_token"]
    token.unlink()
    make_token_private({})
    assert token.read_text() != first


def test_a_token_that_others_can_read_is_closed_and_kept(home):
    token = home / ".ray" / "auth_token"
    token.parent.mkdir()
    token.write_text("theirs")
    token.chmod(0o644)
    make_token_private({})
    assert (mode(token), token.read_text()) == (0o600, "theirs")


@pytest.mark.parametrize("name", [".ray", ".ray/auth_token"])
def test_a_token_that_others_can_replace_is_not_used(home, name):
    make_token_private({})
    (home / name).chmod(0o777)
    with pytest.raises(ClusterError, match=rf"may be known to others: others can write to .*{name} \(mode 777\)"):
        make_token_private({})
    with pytest.raises(ClusterError, match="may be known to others"):  # closing it would not tell whose it is
        make_token_private({})


def test_a_token_that_is_a_link_is_not_used(home):
    (home / "elsewhere").write_text("theirs")
    (home / ".ray").mkdir()
    (home / ".ray" / "auth_token").symlink_to(home / "elsewhere")
    with pytest.raises(ClusterError, match="auth_token is a link"):
        make_token_private({})


@pytest.mark.parametrize("variable", ["RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"])
def test_a_token_from_elsewhere_is_left_alone(home, variable):
    make_token_private({variable: "x"})
    assert not (home / ".ray").exists()


def test_a_home_that_cannot_be_written_to_is_told(home):
    (home / ".ray").write_text("a file")
    with pytest.raises(ClusterError, match="cannot be kept private"):
        make_token_private({})
