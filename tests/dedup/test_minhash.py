"""Signatures agree as often as shingles do, on any text, and the same ones come out of torch."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import TableBatch
from curator_core.authoring.column_bytes import column_bytes
from curator_core.values.errors import ConfigError, DataError
from curator_dedup import Minhash
from curator_dedup.kernels.jaccard import jaccard_of_pairs
from curator_dedup.kernels.shingles import powers_of_base
from curator_dedup.minhash.scheme import MinhashScheme
from curator_dedup.minhash.signing import sign

AWKWARD = st.sampled_from(
    ["a", "b", " ", "\n", "\u00a0", "\u2003", "\u3000", "\u0085", "é", "中", "\U0001f600", "\x1c", "\x00"]
)
WORDS = st.text("abcé\u3000", min_size=1, max_size=30)
TEXT = st.none() | st.text(max_size=40) | st.text(AWKWARD, max_size=60) | st.lists(WORDS, max_size=12).map(" ".join)
TEXTS = st.lists(TEXT, min_size=1, max_size=6)
SCHEMES = [
    MinhashScheme(unit=unit, ngrams=ngrams, num_hashes=hashes, bits=bits, method=method)
    for unit, ngrams in (("char", 3), ("char", 24), ("word", 2))
    for hashes in (5, 40)
    for bits in (32, 64)
    for method in ("sketch", "multiply")
]


def shingles(text, scheme):
    parts = (text or "").split() if scheme.unit == "word" else list(text or "")
    if not parts:
        return []
    count = max(1, len(parts) - scheme.ngrams + 1)
    return [tuple(parts[index : index + scheme.ngrams]) for index in range(count)]


def signed(texts, scheme, **options):
    return sign(column_bytes(pa.array(texts, pa.string())), scheme, **options)


@given(TEXTS, st.sampled_from(SCHEMES))
def test_every_shingle_is_counted(texts, scheme):
    _, counts = signed(texts, scheme)
    assert counts.tolist() == [len(shingles(text, scheme)) for text in texts]


@given(TEXTS, st.sampled_from(SCHEMES))
@settings(max_examples=60)
def test_torch_gives_the_same_signatures(texts, scheme):
    rows, counts = signed(texts, scheme)
    with_torch, torch_counts = signed(texts, scheme, device="cpu")
    assert counts.tolist() == torch_counts.tolist()
    assert (rows[counts > 0] == with_torch[counts > 0]).all()


@given(TEXTS, st.sampled_from(SCHEMES))
def test_a_signature_depends_on_the_set_of_shingles_only(texts, scheme):
    rows, counts = signed(texts, scheme)
    for index, text in enumerate(texts):
        alone, _ = signed([text], scheme)
        assert not counts[index] or (alone[0] == rows[index]).all()
        for other, second in enumerate(texts):
            if counts[index] and set(shingles(text, scheme)) == set(shingles(second, scheme)):
                assert (rows[index] == rows[other]).all()


def test_a_document_of_any_length_is_gone_through_in_parts():
    scheme = MinhashScheme(unit="char", ngrams=5, num_hashes=16)
    text = "".join(chr(97 + (index * index) % 26) for index in range(20_000)) + "é" * 9000
    (whole, counts), (parts, _) = signed([text], scheme), signed([text], scheme, device="cpu")
    assert counts[0] == len(text) - 4
    assert (whole == parts).all()


def test_words_of_any_length_are_hashed_alike_wherever_parts_end():
    scheme = MinhashScheme(unit="word", ngrams=2, num_hashes=16)
    words = ["abcdefghijklmnopqrstuvwxyz"[: index % 27] + "é中"[: index % 3] for index in range(9_000)]
    texts = [" ".join(words), "x" * 3_000 + "\u2003" + "y" * 5_000, " " * 2_000 + "z"]
    (whole, counts), (parts, _) = signed(texts, scheme), signed(texts, scheme, device="cpu")
    assert counts.tolist() == [len(shingles(text, scheme)) for text in texts]
    assert (whole == parts).all()


@pytest.mark.parametrize("method", ["sketch", "multiply"])
@pytest.mark.parametrize("similarity", [0.5, 0.8, 0.95])
def test_entries_agree_with_the_probability_of_the_jaccard_similarity(method, similarity):
    shared, each, pairs, hashes = int(200 * similarity), int(200 * (1 - similarity)) // 2, 200, 112
    texts = []
    for pair in range(pairs):
        words = [f"w{pair}x{index}" for index in range(shared + 2 * each)]
        texts += [" ".join(words[: shared + each]), " ".join(words[:shared] + words[shared + each :])]
    jaccard = shared / (shared + 2 * each)
    deviations = []
    for seed in range(5):
        scheme = MinhashScheme(unit="word", ngrams=1, num_hashes=hashes, method=method, seed=seed)
        rows, _ = signed(texts, scheme)
        agreement = (rows[0::2] == rows[1::2]).mean()
        deviations.append((agreement - jaccard) / np.sqrt(jaccard * (1 - jaccard) / (pairs * hashes)))
    assert abs(np.mean(deviations)) < 2, deviations
    assert max(map(abs, deviations)) < 4, deviations


@given(TEXTS, st.sampled_from([scheme for scheme in SCHEMES if scheme.num_hashes == 5 and scheme.bits == 32]))
def test_jaccard_is_exact(texts, scheme):
    column = column_bytes(pa.array(texts, pa.string()))
    first, second = (each.ravel() for each in np.indices((len(texts), len(texts))))
    measured = jaccard_of_pairs(
        column.data, column.offsets, scheme.ngrams, scheme.unit == "word", powers_of_base(scheme.ngrams), first, second
    )
    for one, other, value in zip(first, second, measured, strict=True):
        a, b = set(shingles(texts[one], scheme)), set(shingles(texts[other], scheme))
        assert value == (len(a & b) / len(a | b) if a and b else 0)


def test_a_scheme_refuses_signatures_of_another():
    scheme = MinhashScheme(num_hashes=260)
    scheme.check(scheme.to_metadata(), source="here")
    with pytest.raises(DataError, match="seed is 7, not 42"):
        scheme.check(MinhashScheme(num_hashes=260, seed=7).to_metadata(), source="here")
    with pytest.raises(DataError, match="no MinHash signatures"):
        scheme.check({}, source="here")


@pytest.mark.parametrize(
    "options", [{"ngrams": 0}, {"num_hashes": 0}, {"bits": 16}, {"unit": "line"}, {"seed": -1}, {"method": "magic"}]
)
def test_impossible_schemes_are_refused(options):
    with pytest.raises(ConfigError, match="MinHash"):
        MinhashScheme(**options)


def test_the_stage_keeps_its_scheme_with_the_column():
    stage = Minhash(unit="word", ngrams=2, num_hashes=16)
    result = stage.process(TableBatch(data={"text": ["one two three", None, ""], "minhash": [1, 2, 3]}))
    stage.scheme.check(result.data.schema.field("minhash").metadata, source="column")
    rows, _ = signed(["one two three"], stage.scheme)
    assert result.data["minhash"].to_pylist() == [rows[0].tolist(), None, None]
    with pytest.raises(ConfigError, match="MinHash"):
        Minhash(ngrams=0)
