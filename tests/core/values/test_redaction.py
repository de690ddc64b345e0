"""Secrets never come out, and nothing else changes."""

import json
import logging
import pickle
import re
import string
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core.values import redaction
from curator_core.values.errors import ConfigError, DataError
from curator_core.values.redaction import MASK, RedactingFormatter, hide, is_sensitive_name, redact, redact_values

SECRET = st.text(string.ascii_letters + string.digits + "%+.~-_", min_size=6, max_size=30).map(lambda text: f"Zq{text}")
WORDS = st.lists(st.sampled_from(["cannot", "open", "the", "file", "at", "line", "5:", "(torn)", "max_tokens=512"]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3://key:hunter2@bucket/a b", "s3://***@bucket/a b"),
        ("https://hunter2@host:8080/x?y=1", "https://***@host:8080/x?y=1"),
        ("https://u:p@ss@host/", "https://***@host/"),
        ("f?X-Amz-Credential=hunter2&X-Amz-Date=1", "f?X-Amz-Credential=***&X-Amz-Date=1"),
        ("blob?sv=2022&sig=hunter2%3D&se=1", "blob?sv=2022&sig=***&se=1"),
        ("http://h/?key=hunter2#top", "http://h/?key=***#top"),
        ("token=hunter2 and more", "token=*** and more"),
        ("{'api_key': 'hunter 2', 'n': 1}", "{'api_key': ***, 'n': 1}"),
        ('"password": "hunter2"', '"password": ***'),
        ("HF_TOKEN=hunter2", "HF_TOKEN=***"),
        ("Authorization: Bearer hunter2hunter2", "Authorization: Bearer ***"),
        ("key hf_abcdefghijklmnopqrstuvwxyz used", "key *** used"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("X-Api-Key: hunter2", "X-Api-Key: ***"),
        ("{'x-api-key': 'hunter2', 'n': 1}", "{'x-api-key': ***, 'n': 1}"),
        ("Ocp-Apim-Subscription-Key: hunter2", "Ocp-Apim-Subscription-Key: ***"),
        ("Cookie: a=hunter2; b=hunter3\nnext", "Cookie: ***\nnext"),
        ("AccountName=me;AccountKey=hunter2==;x=1", "AccountName=me;AccountKey=***;x=1"),
        ("s3://key:hunter2/with/slash@bucket/f", "s3://***@bucket/f"),
        ("hooks.slack.com/services/T0/B0/hunter2", "hooks.slack.com/services/***"),
        ("at AIzaSyA-hunter2hunter2hunter2hunter2hunt", "at ***"),
        ("xoxb-hunter2-hunter2", "***"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIhunter2\n-----END RSA PRIVATE KEY-----.", "***."),
        ("'-----BEGIN PRIVATE KEY-----\\nMIIhunter2\\nhunter'", "'***'"),
        (
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v1 (GNU/Linux)\n\nhunter2\n=ab",
            "***",
        ),
        ("{'password': b'hunter2', 'n': 1}", "{'password': ***, 'n': 1}"),
        ("{'password': ['hunter2', 'hunter]3'], 'n': 1}", "{'password': ***, 'n': 1}"),
        ("api_keys=('hunter2', \"hunter3\") n=1", "api_keys=*** n=1"),
        ("password='hunter2\\'s', n=1", "password=***, n=1"),
        ("password='hunter2 and the rest was cut o", "password=***"),
        ("password=['hunter2 and the rest was cut o", "password=***"),
        ('"{\\"api_key\\": \\"hunter2\\", \\"n\\": 1}"', '"{\\"api_key\\": ***, \\"n\\": 1}"'),
        ("api_key: hunter2 and more", "api_key: *** and more"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=*** psql"),
        ("API_KEY_2=hunter2", "API_KEY_2=***"),
        ("{'accessToken': 'hunter2', 'clientSecret': 'hunter3'}", "{'accessToken': ***, 'clientSecret': ***}"),
        ("secretAccessKey=hunter2", "secretAccessKey=***"),
        ("botToken=hunter2", "botToken=***"),
        ('Cookie: sid="hunter2"; theme="hunter dark"\nnext', "Cookie: ***\nnext"),
        ('"Set-Cookie: sid=\\"hunter2\\"; Path=/", "n"', '"Set-Cookie: ***", "n"'),
        ("{'Cookie': 'sid=\"hunter2\"', 'n': 1}", "{'Cookie': ***, 'n': 1}"),
        ("authorization: Token hunter2", "authorization: Token ***"),
        ("sent authorization: hunter2, accept: text/html", "sent authorization: ***"),
        ("AUTHORIZATION: hunter", "AUTHORIZATION: ***"),
        ("{'authorization': 'Token hunter2', 'n': 1}", "{'authorization': '***', 'n': 1}"),
        ("cookie: sid=hunter2", "cookie: ***"),
        ("[(b'X-Api-Key', b'hunter2'), (b'n', b'1')]", "[(b'X-Api-Key', ***), (b'n', b'1')]"),
        ("('authorization', 'Token hunter2')", "('authorization', ***)"),
        ("X-Vault-Token: hunter2", "X-Vault-Token: ***"),
        ("redis://:hunter/2@host/0", "redis://***@host/0"),
    ],
)
def test_secrets_of_every_kind_are_masked(text, shown):
    assert redact(text) == shown
    assert "hunter" not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s3://bucket/data/part-0.jsonl",
        "https://host:8080/a?page=2&sort=key",
        "tokens=512, max_tokens: 9, unexpected token: 'x'",
        "KeyError: key='text'",
        "mail to a@b.example about the author",
        "data/user@host/file.jsonl:12",
        "https://host:8080/user@host/file.jsonl",
        "the cookie: crumbled, authorization: denied",
        "columns ['cookie', 'text'], sorted by (token, n)",
        "http://:8080/user@host/f.jsonl",
        "password: , api_key=''",
    ],
)
def test_ordinary_text_stays_as_it_is(text):
    assert redact(text) == text


@given(SECRET, SECRET, WORDS, WORDS, st.sampled_from(["s3", "https", "sftp", "hf"]))
def test_credentials_in_a_url_never_come_out(user, password, before, after, scheme):
    text = f"{' '.join(before)} {scheme}://{user}:{password}@host/path {' '.join(after)}"
    shown = redact(text)
    assert user not in shown
    assert password not in shown
    assert shown == f"{' '.join(before)} {scheme}://{MASK}@host/path {' '.join(after)}"


@given(SECRET, st.sampled_from(["X-Amz-Signature", "sig", "token", "key", "access_token", "X-Goog-Signature"]), WORDS)
def test_signed_queries_never_come_out(secret, name, after):
    shown = redact(f"GET https://host/f?part=1&{name}={secret}&page=2 {' '.join(after)}")
    assert shown == f"GET https://host/f?part=1&{name}={MASK}&page=2 {' '.join(after)}"


@given(st.text())
def test_redacting_twice_changes_nothing_more(text):
    assert redact(redact(text)) == redact(text)


@given(st.text(alphabet="abc:/@?&=_-' token key sig *", max_size=200))
def test_redacting_twice_changes_nothing_more_in_texts_full_of_names_and_signs(text):
    assert redact(redact(text)) == redact(text)


PIECES = ["password", "token", "api_key", "authorization", "Cookie", "x-api-key", "Bearer ", "Token ", MASK, "abc1"]
PIECES += ["'", '"', "\\", "=", ":", ": ", ",", ", ", "(", "[", "]", "b'", "://", "@", "/", " ", "\n", "hunter"]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_redacting_twice_changes_nothing_more_in_names_and_quotes(text):
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "unit",
    [
        "a-",
        "a_",
        "://",
        "?key=",
        "token='",
        "http://a@",
        "sk-",
        "token   =   ",
        "://a:b/",
        "X-Api-Key: ",
        "-----BEGIN PRIVATE KEY-----",
        "a-a-a-",
        "eyJabcdefgh.",
        "password=['",
        'api_key: \\"',
        'Cookie: a="',
        "('cookie', \"",
        "authorization: a",
    ],
)
def test_hostile_text_is_no_trap(unit):
    """A pattern that looks back from every character would take minutes here."""
    redact(unit * (400_000 // len(unit)))


def test_values_are_redacted_wherever_they_are():
    values = {"a": ["s3://k:s@b", 1, None], "auth": {"password": "x", "user": "me"}, "hf_token": "", "max_tokens": "5"}
    assert redact_values(values) == {
        "a": ["s3://***@b", 1, None],
        "auth": {"password": "***", "user": "me"},
        "hf_token": "",
        "max_tokens": "5",
    }
    assert not is_sensitive_name(5)


def test_lists_under_a_sensitive_name_are_hidden():
    assert redact_values({"api_keys": ["one", "two"], "X-Api-Key": "three", "password": b"four"}) == {
        "api_keys": ["***", "***"],
        "X-Api-Key": "***",
        "password": "***",
    }


@pytest.mark.parametrize(
    "name", ["accessToken", "clientSecret", "secretAccessKey", "PGPASSWORD", "GITHUB_PAT", "API_KEY_2", "hf_token2"]
)
def test_names_of_secrets_are_known_in_every_spelling(name):
    assert is_sensitive_name(name)


@pytest.mark.parametrize("name", ["maxTokens", "tokens", "file_pat", "bypass", "key", "author", "tokenizer"])
def test_other_names_are_not(name):
    assert not is_sensitive_name(name)


@given(st.text(st.characters(exclude_characters="\n"), min_size=8), st.text(), st.text())
def test_a_hidden_value_never_comes_out_of_text_python_json_or_urls(value, before, after):
    value = f"Zq{value}9"
    hide(value, is_credential=True)
    forms = (
        value,
        repr(value),
        json.dumps(value),
        quote(value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")),
    )
    for form in forms[: 4 if value.isprintable() else 3]:
        assert form.strip("'\"") not in redact(f"{before} {form} {after}")


def test_many_values_are_hidden_with_work_in_proportion(monkeypatch):
    quoted = []
    monkeypatch.setattr(redaction, "_exactly", lambda form: quoted.append(form) or re.escape(form))
    values = [f"hidden/{number}" for number in range(100)]
    for value in values:
        hide(value, is_credential=False)
    assert redact(" ".join(values)) == " ".join([MASK] * 100)
    assert len(quoted) == len(set(quoted))


def test_an_error_of_a_worker_is_redacted_when_it_comes_back():
    error = pickle.dumps(ConfigError("no tok-5f3c9a", fix="replace tok-5f3c9a"))
    hide("tok-5f3c9a", is_credential=True)
    assert str(pickle.loads(error)) == "no ***\n  fix: replace ***"


def test_errors_and_log_lines_are_redacted():
    url = "https://me:hunter2@host/f.jsonl"
    assert "hunter2" not in str(ConfigError(f"cannot open {url}"))
    assert "hunter2" not in str(ConfigError("cannot open a file", fix=f"look at {url}"))
    error = DataError("torn", source=url, row=3)
    assert str(error) == "https://***@host/f.jsonl:3: torn"
    record = logging.LogRecord("ray", logging.WARNING, "f.py", 1, "lost %s", (url,), None)
    assert RedactingFormatter("%(message)s").format(record) == "lost https://***@host/f.jsonl"
