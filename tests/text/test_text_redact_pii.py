"""text.redact_pii on labelled text: what it must find, what it must leave, and nothing else changed."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core.values.errors import ConfigError
from curator_text import DocumentBatch, RedactPii
from curator_text.privacy.account_numbers import has_luhn_digit

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc+/=\n-----END RSA PRIVATE KEY-----"
TOKEN = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

POSITIVE = {
    "email": [
        "[ann@example.org]",
        "Write to [ann.b+list@mail.example.co.uk].",
        "<[a_b-c@sub.domain.museum]>",
        "mailto:[x@y.de]?subject=z",
        "[ANN@EXAMPLE.COM], [bob99@host-name.io]; [c%d@e.fr]",
        "Ünï [info@example.org]ü",
        "邮箱[li@example.cn]。",
        "[josé.garcía@correo.es]",
        "[jose\u0301@correo.es]",
        "пишите: [иван@почта.рф]",
        "[info@müller.example]",
        "[x@xn--mller-kva.xn--p1ai]",
        "[root@192.168.1.1], [bob@8.8.8.8]",
    ],
    "login": [
        "https://[ann:s3cret]@example.org/x",
        "postgres://[user:p%40ss]@db.internal:5432/x and ftp://[me:you]@host",
    ],
    "ip_address": [
        "from [81.2.69.142] at",
        "http://[185.199.108.153]:8080/x",
        "[203.0.114.7]/24",
        "IP address: [8.8.8.8], ping [1.1.1.1]",
        "[2606:4700:4700::1111]",
        "at 2001:4860:4860:0:0:0:0:8888 no brackets".replace("2001", "[2001").replace("8888", "8888]"),
        "peer ([2a00:1450:4001:81b::200e])",
        "Failed password for root from [61.177.172.13] port 22",
    ],
    "phone": [
        "+[x]".replace("[x]", "").replace("+", "call [+49 30 901820]."),
        "[+1 (212) 555-0187]",
        "[+44 20 7946 0958], office",
        "[+33-1-23-45-67-89]",
        "[0049 30 901820]",
        "[(212) 555-0187] or [212-555-0187]; [212.555.0187]",
        "[1-800-555-0199]",
        "[01 23 45 67 89] (Paris)",
        "Tel.: [030 / 901820-11]",
        "Phone [020 7946 0958]",
        "Fax: [(030) 90 18 20]",
        "Тел. [8 (495) 123-45-67]",
        "电话\uff1a[010-12345678]",
        "mobile [0171 1234567]",
        "WhatsApp [+5511987654321]",
    ],
    "iban": [
        "[DE89 3704 0044 0532 0130 00]",
        "IBAN:[GB82WEST12345698765432].",
        "[FR14 2004 1010 0505 0001 3M02 606] BIC",
        "to [NL91ABNA0417164300], please",
        "[CH93-0076-2011-6238-5295-7]",
        "[NO93 8601 1117 947]",
    ],
    "credit_card": [
        "[4111 1111 1111 1111]",
        "Visa [4012888888881881], exp",
        "[5555-5555-5555-4444]",
        "[378282246310005]",
        "[3782 822463 10005]",
        "[6011111111111117]",
        "[3530111333300000]",
        "[2223003122003222]",
        "card: [6200000000000005].",
    ],
    "api_key": [
        "key=[AKIAIOSFODNN7EXAMPLE]",
        '"[ghp_' + "aB3" * 12 + ']"',
        "token [xoxb-123456789012-abcdefABCDEF]",
        "[AIza" + "SyA-b_c1234567890abcdefghijklmnopqr"[:35] + "]",
        "[sk-proj-" + "aB3dE6gH9" * 4 + "]",
        "[sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc]",
        "Authorization: Bearer [" + TOKEN + "]",
        "[hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH]",
        "my key:\n[" + KEY + "]\nthanks",
        "[github_pat_" + "a1B2c3D4e5" * 2 + "aa_" + "b" * 59 + "]",
        "[glpat-" + "aB3dE6gH9aB3dE6gH9aB]",
    ],
    "us_ssn": ["SSN: [219-09-9999]", "([078-05-1120])"],
}

HARD_NEGATIVE = [
    # versions, sections, identifiers of standards
    "version 1.2.3.4",
    "v10.0.0.1beta",
    "Git 1.8.1.5",
    "dpkg (1.15.5.5) unstable",
    "Section 4.2.1.3",
    "OID 1.3.6.1.4.1",
    "Chrome/108.0.5359.71",
    "requires >=2.31.4.1",
    "libfoo-1.2.3.4.tar.gz",
    "RFC 2822.3.4.1",
    "Firmware 21.45.60.31",
    # private, special and documentation addresses
    "192.168.1.1",
    "127.0.0.1",
    "10.0.0.138",
    "172.16.254.1",
    "169.254.0.1",
    "0.0.0.0",
    "255.255.255.0",
    "224.0.0.1",
    "192.0.2.44",
    "::1",
    "fe80::1ff:fe23:4567:890a",
    "2001:db8::1",
    "256.300.1.1",
    "81.2.69.142.5",
    # times, dates, hardware addresses, names with colons
    "12:34:56",
    "2021-05-04 10:11:12",
    "20210504101112",
    "Thu Oct 18 09:41:00 2007 -0700",
    "00:1A:2B:3C:4D:5E",
    "std::vector<int>",
    "Foo::Bar::Baz",
    "Fee::Dad",
    "1620122400000",
    "05/04/2021",
    "2021-05-04T10:11:12+02:00",
    # books, products, amounts, coordinates
    "ISBN 978-3-16-148410-0",
    "ISBN-10: 0-306-40615-2",
    "EAN 4006381333931",
    "Part no. 123-456-7890",
    "Model 800-555-0199-AB",
    "SKU AB-212-555-0187",
    "$1,234,567.89",
    "1 234 567 890 rows",
    "pages 212-555",
    "52.5200, 13.4050",
    "3.14159265358979",
    "0.4111111111111111",
    "in Clause 252.227-7013 (c)",
    "10000000000",
    "phone 2",
    "ZIP 10115-1234",
    "call 911",
    "the years 1914-1918 and 1939-1945",
    "+1",
    "+20000",
    "a + 12345678 = b",
    # wrong checksums
    "4111 1111 1111 1112",
    "5555555555554445",
    "DE89 3704 0044 0532 0130 01",
    "GB82 WEST 1234 5698 7654 33",
    "0000 0000 0000 0000",
    "4111111111111111111111",
    "XX89370400440532013000",
    # hashes, ids, code
    "d41d8cd98f00b204e9800998ecf8427e",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "550e8400-e29b-41d4-a716-446655440000",
    "commit 4012888888881881abc",
    "id_4012888888881881",
    "sk-learn-contrib-something-long-name",
    "eyJust.a.word",
    "eyJhbGci",
    "xoxo-hugs",
    "AKIA is a prefix",
    "task-12345678901234567890",
    # what has an @
    "logo@2x.png",
    "user@localhost",
    "@handle",
    "a @ b.com",
    "npm i pkg@1.2.3",
    "foo@bar",
    "@media (min-width)",
    "x@y.z",
    "https://example.org:8080/@ann",
    "https://example.org/a:b@c",
]


def test_an_address_may_name_its_machine_in_brackets():
    texts = ["to admin@[10.0.0.1].", "a@[IPv6:2001:db8::1]"]
    assert redact(texts)["text"] == ["to <email>.", "<email>"]


def redact(texts, **options):
    batch = DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())}))
    return RedactPii(**options).process(batch).data.to_pydict()


def labelled():
    for kind, texts in POSITIVE.items():
        for text in texts:
            yield kind, text


@pytest.mark.parametrize(("kind", "text"), list(labelled()), ids=lambda value: value[:40])
def test_what_is_marked_is_found_and_the_rest_stays(kind, text):
    plain = text.replace("[", "").replace("]", "")
    parts = text.replace("]", "[").split("[")
    expected = "".join(f"<{kind}>" if number % 2 else part for number, part in enumerate(parts))
    every_kind = list(POSITIVE)
    assert redact([plain], kinds=every_kind)["text"] == [expected]


@pytest.mark.parametrize("text", HARD_NEGATIVE)
def test_what_only_looks_like_it_stays(text):
    assert redact([text])["text"] == [text]
    assert redact([f"The text says {text}, and goes on."])["text"] == [f"The text says {text}, and goes on."]


def test_private_addresses_go_if_asked_for():
    text = "10.0.0.138 and fe80::1ff:fe23:4567:890a and 192.168.1.1"
    assert redact([text], public_ips_only=False)["text"] == ["<ip_address> and <ip_address> and <ip_address>"]


def test_social_security_numbers_only_if_asked_for():
    assert redact(["219-09-9999"])["text"] == ["219-09-9999"]
    assert redact(["219-09-9999, 000-12-3456, 219-00-1234, 1219-09-9999"], kinds=["us_ssn"])["text"] == [
        "<us_ssn>, 000-12-3456, 219-00-1234, 1219-09-9999"
    ]


def test_counts_nulls_and_empty_texts():
    out = redact(["a@b.org, c@d.org", None, "", f"{KEY}\n{KEY}\nx@y.org", "plain"], count_column="found")
    assert out["found"] == [2, None, 0, 3, 0]
    assert out["text"] == ["<email>, <email>", None, "", "<api_key>\n<api_key>\n<email>", "plain"]


def test_replacements_can_be_templates_by_kind_and_hashes():
    text = "a@b.org b@b.org a@b.org 8.8.8.8 from 81.2.69.142"
    by_kind = {"email": "{{{kind}}}", "ip_address": ""}
    assert redact([text], kinds=["email", "ip_address"], replacement=by_kind)["text"] == [
        "{email} {email} {email} 8.8.8.8 from "
    ]
    (hashed,) = redact([text], kinds=["email"], replacement="{hash}")["text"]
    first, second, third, *_ = hashed.split()
    assert first == third != second
    assert len(first) == 16
    (keyed,) = redact([text], kinds=["email"], replacement="{hash}", secret="pepper")["text"]
    assert keyed.split()[0] == keyed.split()[2] != first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": []}, "no kinds"),
        ({"replacement": "{name}"}, "not a template"),
        ({"replacement": "{"}, "not a template"),
        ({"replacement": {"email": "x"}}, "nothing for api_key"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RedactPii(**options)


LIKELY = st.text(st.sampled_from("0123456789.:-+() @aFe@.org\nTel IBAN DE89€\x00"), max_size=60)


@settings(max_examples=150)
@given(texts=st.lists(st.none() | LIKELY | st.text(max_size=30), min_size=1, max_size=5))
def test_batch_equals_singles_and_only_finds_change(texts):
    kinds = list(POSITIVE)
    out = redact(texts, kinds=kinds, replacement="\ue000", count_column="n")
    assert out["text"] == [redact([text], kinds=kinds, replacement="\ue000")["text"][0] for text in texts]
    for text, changed, count in zip(texts, out["text"], out["n"], strict=True):
        if text is None or "\ue000" in text:
            continue
        pieces = changed.split("\ue000")
        assert len(pieces) == count + 1
        assert text.startswith(pieces[0])
        assert text.endswith(pieces[-1])
        position = 0
        for piece in pieces:  # in order, and byte for byte
            position = text.index(piece, position) + len(piece)


@given(number=st.from_regex(r"\A4[0-9]{14}\Z"))
def test_every_card_number_with_a_right_digit_is_found_and_no_other(number):
    digits = [digit for digit in "0123456789" if has_luhn_digit(number + digit)]
    assert len(digits) == 1
    if len(set(number)) > 1:
        texts = [number + digit for digit in "0123456789"]
        found = [
            text for text, out in zip(texts, redact(texts, kinds=["credit_card"])["text"], strict=True) if text != out
        ]
        assert found == [number + digits[0]]


def test_long_documents_with_much_to_find():
    text = "Line of plain text without anything.\n" * 2000 + "ann@example.org\n" * 2000
    out = redact([text], count_column="n")
    assert out["n"] == [2000]
    assert out["text"][0].endswith("<email>\n")
