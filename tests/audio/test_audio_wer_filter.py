"""audio.wer_filter: error rates, and what does not count as an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_audio import AudioBatch, WerFilter
from curator_audio.speech.transcripts import normalise
from curator_audio.speech.wer_filter import error_rate
from curator_core.values.errors import ConfigError
from tests.support.recordings import run


def batch(*pairs, **names):
    reference, hypothesis = names.get("reference", "text"), names.get("hypothesis", "transcript")
    return AudioBatch(data={reference: [a for a, _ in pairs], hypothesis: [b for _, b in pairs]}, task_id="pairs")


def test_rows_that_differ_are_dropped():
    pairs = [
        ("Please enter your password.", "please enter your password"),
        ("One two three four", "one to three four"),
        ("All circuits are busy", "oliver cats"),
        ("", ""),
        ("", "a b"),
        ("some", ""),
        (None, "x"),
        ("x", None),
    ]
    result, rows = run(WerFilter(max_wer=0.25), batch(*pairs))
    assert [row["wer"] for row in rows] == [0.0, 0.25, 0.0]
    assert result.stats["audio.wer_filter"].dropped == {"transcript_differs": 3, "missing_value": 2}
    _, tagged = run(WerFilter().with_(tag=True), batch(*pairs))
    assert [row["wer"] for row in tagged] == [0.0, 0.25, 1.0, 0.0, 2.0, 1.0, None, None]


def test_units_columns_and_no_normalisation():
    _, rows = run(WerFilter(1.0, unit="char"), batch(("abcd", "abed")))
    assert rows[0]["wer"] == 0.25
    stage = WerFilter(1.0, "said", "heard", normalize=False, score_column="rate")
    _, rows = run(stage, batch(("Hello world", "hello world"), reference="said", hypothesis="heard"))
    assert rows[0]["rate"] == 0.5
    with pytest.raises(ConfigError, match="negative"):
        WerFilter(-1)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Don\u2019t — stop!", "dont stop"),
        ("[noise] (simple tone plays) <beep> yes", "yes"),
        ("ﬁne STRASSE straße", "fine strasse strasse"),
        ("e-mail, co-operate", "e mail co operate"),
        ("  \n", ""),
        ("Ωmega ДА 日本", "ωmega да 日本"),
    ],
)
def test_normalisation(text, plain):
    assert normalise(text) == plain


@given(st.text(max_size=60))
def test_normalisation_is_final(text):
    once = normalise(text)
    assert normalise(once) == once
    assert error_rate(once, once, unit="word") == 0


@given(*[st.lists(st.sampled_from("abc"), min_size=1, max_size=6).map(" ".join)] * 2)
def test_error_rate_counts_edits(reference, hypothesis):
    rate = error_rate(reference, hypothesis, unit="word")
    edits = rate * len(reference.split())
    assert edits == pytest.approx(round(edits))
    assert edits == pytest.approx(error_rate(hypothesis, reference, unit="word") * len(hypothesis.split()))
