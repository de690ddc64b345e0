"""What rows may name: nothing outside of the place they were read from, however it is spelled."""

import os
import socket
from urllib.parse import urlsplit

import pytest
import yarl
from hypothesis import given
from hypothesis import strategies as st

from curator_core.authoring.row_files import RowFile
from curator_core.files.addresses import check_address, is_public
from curator_core.files.locations import check_allowed_locations, check_location
from curator_core.values.errors import ConfigError, DataError, LocationError

WORDS = [
    *("..", ".", "/", "//", "a", "b.wav", "in", "out", "~", ":", "::", "://", "%2e%2e", "%2F", "%00", "@", "#", "?"),
    *("file:", "FILE", "file", "s3", "S3", "http", "https", "reference", "simplecache", "zip", "data:", "memory"),
    *("bucket", "host", "evil.org", "user:pw@", "[::1]", "127.0.0.1", "2130706433"),
]
PIECES = st.sampled_from([*WORDS, "\\", "C:\\", "\0", "\n", " ", "\uff1a"])
VALUES = st.one_of(st.lists(PIECES, max_size=9).map("".join), st.text(max_size=20))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with links that stay inside and links that lead out."""
    root = tmp_path_factory.mktemp("place")
    (root / "data" / "a").mkdir(parents=True)
    (root / "data" / "in").symlink_to("a")
    (root / "data" / "out").symlink_to(root)
    return root / "data"


@given(value=VALUES)
def test_nothing_outside_of_a_local_folder_is_let_through(folder, value):
    origin = str(folder / "m.jsonl")
    try:
        location = check_location(value, origin=origin)
    except LocationError:
        return
    assert location.path.startswith("/")
    assert "://" not in location.path
    assert (os.path.realpath(location.path) + "/").startswith(os.path.realpath(folder) + "/")


@given(value=VALUES)
def test_nothing_outside_of_a_bucket_is_let_through(value):
    try:
        location = check_location(value, origin="s3://bucket/v1/m.jsonl")
    except LocationError:
        return
    assert location.path.startswith("s3://bucket/")
    assert "::" not in location.path
    assert ".." not in location.path.split("/")


@given(value=VALUES)
def test_nothing_of_another_host_is_let_through(value):
    try:
        location = check_location(value, origin="https://host/v1/m.jsonl?sig=1")
    except LocationError:
        return
    assert urlsplit(location.path).netloc == yarl.URL(location.path).host == "host"
    assert urlsplit(location.path).scheme == "https"


@given(value=VALUES)
def test_without_an_origin_nothing_is_let_through(value):
    with pytest.raises(LocationError):
        check_location(value, origin=None)


@given(value=VALUES, allowed=st.sampled_from(["s3://bucket/v1", "https://host/v1/", "memory://bucket/"]))
def test_only_what_is_below_an_allowed_url_is_let_through(value, allowed):
    try:
        location = check_location(value, origin=None, allowed=[allowed])
    except LocationError:
        return
    assert location.is_allowed
    assert location.path == allowed.rstrip("/") or location.path.startswith(allowed.rstrip("/") + "/")
    assert ".." not in yarl.URL(location.path).path.split("/")


@pytest.mark.parametrize(
    ("value", "origin", "expected"),
    [
        ("clips/a.wav", "/data/m.jsonl", "/data/clips/a.wav"),
        ("/data/clips/a.wav", "/data/m.jsonl", "/data/clips/a.wav"),
        ("file:///data/a.wav", "/data/m.jsonl", "/data/a.wav"),
        ("a.wav", "file:///data/m.jsonl", "/data/a.wav"),
        ("data:audio/wav;base64,AAAA", "/data/m.jsonl", "/data/data:audio/wav;base64,AAAA"),
        ("C:\\a.wav", "/data/m.jsonl", "/data/C:\\a.wav"),
        ("~/a.wav", "/data/m.jsonl", "/data/~/a.wav"),
        ("../b/a.wav", "s3://speech/v1/m.jsonl", "s3://speech/b/a.wav"),
        ("S3://speech/x//a.wav", "s3://speech/m.jsonl", "s3://speech/x//a.wav"),
        ("https://HOST/a.wav?x=1", "https://host/m.jsonl", "https://host/a.wav?x=1"),
        ("a.wav", "https://me:pw@host/v1/m.jsonl", "https://me:pw@host/v1/a.wav"),
        ("abfs://c@account.dfs.core.windows.net/a", "abfs://c@account.dfs.core.windows.net/m", None),
        ("hf://datasets/me/x/a.wav", "hf://datasets/me/x/m.jsonl", None),
    ],
)
def test_what_is_found_where(value, origin, expected):
    assert check_location(value, origin=origin).path == (expected or value)


@pytest.mark.parametrize(
    ("value", "origin", "message"),
    [
        ("/etc/passwd", "/data/m.jsonl", r"allowed_locations: \['/etc'\]"),
        ("../data2/a.wav", "/data/m.jsonl", "allowed_locations"),
        ("/data/a.wav", "s3://speech/m.jsonl", r"allowed_locations: \['/data'\]"),
        ("file://other/data/a.wav", "/data/m.jsonl", "another machine"),
        ("s3://other/a.wav", "s3://speech/m.jsonl", r"allowed_locations: \['s3://other/'\]"),
        ("../../other/a.wav", "s3://speech/m.jsonl", "climbs out"),
        ("http://host/a.wav", "https://host/m.jsonl", "allowed_locations"),
        ("https://host:8443/a.wav", "https://host/m.jsonl", "allowed_locations"),
        ("https://me:pw@host/a.wav", "https://host/m.jsonl", "without user"),
        ("https://hоst/a.wav", "https://hоst/m.jsonl", "ASCII"),  # noqa: RUF001 - a Cyrillic letter
        ("https://[fe80--1]/a.wav", "https://host/m.jsonl", "ASCII"),
        ("https://[::1]/a.wav", "https://host/m.jsonl", "chain"),
        ("a.wav", "zip://m.jsonl::s3://speech/x.zip", "inside another one"),
        ("zip://a.wav::s3://speech/x.zip", "zip://m.jsonl::s3://speech/x.zip", "chain"),
        ("reference://a", "/data/m.jsonl", "scheme"),
        ("hf://datasets/other/x/a.wav", "hf://datasets/me/x/m.jsonl", "allowed_locations"),
        ("a\0.wav", "/data/m.jsonl", "control characters"),
        ("a\n.wav", "/data/m.jsonl", "control characters"),
        ("", "/data/m.jsonl", "empty"),
        ("a.wav", None, "no '_source'"),
        ("a.wav", "", "no '_source'"),
    ],
)
def test_what_is_refused_and_how_it_is_said(value, origin, message):
    with pytest.raises(LocationError, match=message):
        check_location(value, origin=origin)


def test_the_listed_file_itself_is_taken_as_it_is():
    chain = "zip://a.wav::s3://speech/x.zip"
    assert check_location(chain, origin=chain).is_listed


def test_the_cause_of_a_file_that_cannot_be_opened_is_kept(tmp_path):
    with pytest.raises(DataError) as raised:
        RowFile("missing.wav", str(tmp_path / "m.jsonl")).open()
    assert isinstance(raised.value.__cause__, FileNotFoundError)


def test_prefixes_end_at_a_slash():
    with pytest.raises(LocationError):
        check_location("/corpus2/a.wav", origin="/data/m.jsonl", allowed=["/corpus"])
    with pytest.raises(LocationError):
        check_location("s3://b/prefix2/a", origin="/data/m.jsonl", allowed=["s3://b/prefix"])
    assert check_location("/corpus/a.wav", origin="/data/m.jsonl", allowed=["/corpus/"]).is_allowed
    with pytest.raises(ConfigError, match="allowed_locations"):
        check_allowed_locations("stage", ["github://x"])


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "0", "169.254.169.254", "10.0.0.8"]
)
def test_hosts_inside_the_network_are_refused_however_they_are_written(host):
    with pytest.raises(LocationError, match="allowed_locations"):
        check_address(f"http://{host}:8080/a.wav")


@given(st.ip_addresses(v=4))
def test_an_address_is_public_in_every_notation_or_in_none(address):
    text = str(address)
    assert is_public(f"::ffff:{text}") == is_public(text)
    assert is_public(f"64:ff9b::{text}") == is_public(text)
    if address.is_private or address.is_loopback or address.is_link_local:
        assert not is_public(text)


def test_one_private_address_of_several_is_enough_to_refuse():
    check_address("https://host/a", resolver=lambda _: ["93.184.216.34"])
    with pytest.raises(LocationError, match=r"10\.0\.0\.1"):
        check_address("https://host/a", resolver=lambda _: ["93.184.216.34", "10.0.0.1"])
    with pytest.raises(LocationError):
        check_address("https://host/a", resolver=lambda _: [])


def test_a_silent_name_server_is_worth_another_try():
    def silent(_):
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    with pytest.raises(ConnectionError):
        check_address("https://host/a", resolver=silent)
