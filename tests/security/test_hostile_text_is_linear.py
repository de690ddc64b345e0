"""Text that is made to be slow takes time in proportion to its length; changed matchers find what they found.

The matchers run in C, where no step can be counted, so CPU time of this process is compared, not seconds of a clock:
text sixteen times as long may take 64 times as long. A linear matcher takes 16 times, a quadratic one 256 times.
"""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curator_core.values import secret_shapes
from curator_core.values.redaction import MASK, redact
from curator_text.code.html_text import _TextCounter, text_length
from curator_text.extraction import charset
from curator_text.llm.score_reading import ScoreReader
from curator_text.privacy.account_numbers import find_cards, find_ibans
from curator_text.privacy.api_keys import _KEYS, _key_matches, find_api_keys, find_private_keys
from curator_text.privacy.contact_data import find_emails, find_phones
from curator_text.privacy.ip_addresses import find_ips

SMALL, TIMES, ALLOWED = 5_000, 16, 64
LEAST_S = 0.02  # shorter measurements say nothing; nothing that is quadratic stays below it at 80,000 characters


def cpu_s(call, text):
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        call(text)
        best = min(best, time.process_time() - start)
    return best


def read_score(answer):
    with pytest.raises(ValueError, match="no JSON object"):
        ScoreReader(key="score").read(answer)


MATCHERS = {
    "html": (
        text_length,
        [
            "<a ",
            "<a b='c' ",
            "</",
            "<!--",
            "<!-- >",
            "<![CDATA[",
            "<![CDATA[ >",
            "<![if >",
            "<!x ",
            "<? ",
            '<a x=">',
            "<",
            "&#",
            "&",
            "<script></",
            "<b>",
            "</b>",
            "<b a=",
            "<!doctype ",
        ],
    ),
    "keys": (
        lambda text: list(find_api_keys(text)),
        [
            "eyJ",
            "-eyJ",
            "eyJaaaaaaaaaaaa.",
            "eyJaaaaaaaaaaaa.aaaaaaaaaaaa",
            "sk-",
            "sk-aa-",
            "glpat-",
            "pypi-AgE",
            "AKIA",
            "A",
        ],
    ),
    "private keys": (
        lambda text: list(find_private_keys(text)),
        ["-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN ", "-----END RSA PRIVATE KEY-----", "-"],
    ),
    "e-mail": (lambda text: list(find_emails(text)), ["a@", "a@a.", "@", "a.", "a@a-", "%"]),
    "redaction": (
        redact,
        [
            "eyJ-",
            "-eyJ",
            "eyJaaaaaaaa.",
            "eyJaaaaaaaa.aaaaaaaa",
            "://",
            "://a:",
            "?a-",
            "token='",
            "Bearer ",
            "-----BEGIN ",
        ],
    ),
    "judge": (read_score, ["{", '{"a":', '{"', "{}", '{"a":[']),
    "addresses": (lambda text: list(find_ips(text)), ["1.", "1:", "::", "a:a::", "ff"]),
    "cards": (lambda text: list(find_cards(text)), ["4", "4111 ", "3-"]),
    "accounts": (lambda text: list(find_ibans(text)), ["DE89", "DE89 ", "A", "A-"]),
    "telephone": (lambda text: list(find_phones(text)), ["1", "1 ", "+1", "(", "tel ", "1-", "00"]),
}


@pytest.mark.parametrize(
    ("call", "piece"),
    [pytest.param(call, piece, id=f"{name} {piece}") for name, (call, pieces) in MATCHERS.items() for piece in pieces],
)
def test_repeated_beginnings_take_linear_time(call, piece):
    small = (piece * SMALL)[:SMALL]
    long = cpu_s(call, small * TIMES)
    assert long < max(LEAST_S, cpu_s(call, small) * ALLOWED)


OLD_KEYS = re.compile(_KEYS.pattern + r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*")
KEY_PIECES = [
    "eyJ",
    "hbGciOiJIUzI1NiJ9",
    ".",
    "-",
    " ",
    "sk-",
    "abcdefghij1234567890",
    "AKIA",
    "ABCDEFGHIJKLMNOP",
    "ghp_",
    "x",
]


@given(st.lists(st.sampled_from(KEY_PIECES), max_size=25).map("".join))
def test_keys_are_those_of_one_pattern(text):
    assert [match.span() for match in _key_matches(text)] == [match.span() for match in OLD_KEYS.finditer(text)]


def plain_length(page):
    """The length as Python's parser finds it, without what keeps it from searching twice."""
    counter = _TextCounter()
    counter._once = lambda _kind, parse, i, report: parse(i, report)
    try:
        counter.feed(page)
        counter.close()
    except AssertionError:
        return 0
    counter.end_run()
    return counter.length


HTML_PIECES = [
    "<a ",
    "<p>",
    "</p>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<![if x]>",
    "<![IF",
    "<![x",
    "<![endif",
    "]>",
    ">",
    "'",
    '"',
    "x=",
    "text",
    " ",
    "&amp;",
    "<script>",
    "</script>",
]


@given(st.lists(st.sampled_from(HTML_PIECES), max_size=25).map("".join))
@example("<![CDATA[ <p>a</p><![if !IE]><p>b</p><![endif]>")
@example("<![if <p>a</p><![CDATA[b]]>")
def test_pages_have_the_length_that_the_parser_finds(page):
    assert text_length(page) == plain_length(page)


OLD_WEB_TOKEN = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")
TOKEN_PIECES = ["eyJ", "aaaaaaaa", "a", ".", "-", "_", " ", "\u00e9"]


@given(st.lists(st.sampled_from(TOKEN_PIECES), max_size=25).map("".join))
def test_web_tokens_are_hidden_as_by_one_pattern(text):
    assert secret_shapes._WEB_TOKEN.sub(rf"\1{MASK}", text) == OLD_WEB_TOKEN.sub(MASK, text)


OLD_META = re.compile(
    rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|<\?xml[^>]{0,200}?\bencoding\s*=\s*[\"']([\w.:-]{1,40})",
    re.IGNORECASE,
)
META_PIECES = [b"<meta ", b"charset", b"=", b" ", b"'", b'"', b"utf-8", b">", b"<?xml ", b"encoding", b";"]


@given(st.lists(st.sampled_from(META_PIECES), max_size=25).map(b"".join))
def test_declarations_are_those_of_the_old_pattern(page):
    found, old = charset._META.search(page), OLD_META.search(page)
    assert (found and found.groups()) == (old and old.groups())
