"""fastText and KenLM models from files."""

import pyarrow as pa
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.registry import default_registry
from curator_core.values.errors import ConfigError, PipelineError, StageError
from curator_text import DocumentBatch, FasttextClassify, FastTextQuality, Perplexity
from tests.support.tiny_text_models import fasttext_model_file, language_model_file

ENGLISH = "The weather was fine, and so we\nwalked along the river for an hour."
GERMAN = "Das Wetter war schön, und so gingen wir\neine Stunde am Fluss entlang."
TEXTS = [ENGLISH, GERMAN, None, ""]


def run(stage, texts=TEXTS):
    batch = DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())}))
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    return [row for task in result for row in task.data.to_pylist()], dict(result.stats[stage.name].dropped)


def test_fasttext_classify_adds_label_and_probability():
    rows, dropped = run(FasttextClassify(str(fasttext_model_file()), label_column="lang"))
    assert [row["lang"] for row in rows][:3] == ["en", "de", None]
    assert rows[0]["score"] > 0.8
    assert rows[2]["score"] is None
    assert dropped == {}


def test_fasttext_classify_replaces_no_column_unless_asked_to():
    batch = DocumentBatch(data={"text": [ENGLISH], "label": ["mine"]})
    stage = FasttextClassify(str(fasttext_model_file()))
    with pytest.raises(StageError, match="there is a column 'label' already"):
        Pipeline(stages=[stage]).run(LocalExecutor(on_error="raise"), initial_tasks=[batch])
    stage = FasttextClassify(str(fasttext_model_file()), overwrite=True)
    (out,) = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    assert out.data["label"].to_pylist() == ["en"]


def test_fasttext_classify_keeps_labels_and_scores():
    rows, dropped = run(
        FasttextClassify(str(fasttext_model_file()), keep=["de"], min_score=0.5), [ENGLISH, GERMAN, None]
    )
    assert [row["text"] for row in rows] == [GERMAN]
    assert dropped == {"other_label": 1, "missing_value": 1}


def test_fast_text_quality_scores_the_wanted_label_and_one_minus_another():
    stage = FastTextQuality(str(fasttext_model_file()), label="__label__en", tag=True)
    english, german = (row["fast_text_quality_score"] for row in run(stage, [ENGLISH, GERMAN])[0])
    labels, _ = run(FasttextClassify(str(fasttext_model_file())), [ENGLISH, GERMAN])
    assert english == pytest.approx(labels[0]["score"], abs=1e-6)
    assert german == pytest.approx(1 - labels[1]["score"], abs=1e-6)


def test_fast_text_quality_draws_by_text_and_seed_as_often_as_the_distribution_says():
    texts = [f"{GERMAN} Nummer {number}" for number in range(2000)]
    stage = FastTextQuality(str(fasttext_model_file()), label="en")
    kept, dropped = run(stage, texts)
    scores, _ = run(FastTextQuality(str(fasttext_model_file()), label="en", tag=True), texts)
    # P(X > 1 - s) = (2 - s) ** -alpha for the Lomax distribution
    expected = sum((2 - row["fast_text_quality_score"]) ** -3 for row in scores)
    assert dropped == {"not_drawn": len(texts) - len(kept)}
    assert len(kept) == pytest.approx(expected, abs=4 * (len(texts) / 8) ** 0.5)
    again, _ = run(stage, texts[::-1])
    assert sorted(row["text"] for row in again) == sorted(row["text"] for row in kept)
    other, _ = run(FastTextQuality(str(fasttext_model_file()), label="en", seed=1), texts)
    assert {row["text"] for row in other} != {row["text"] for row in kept}


def test_fast_text_quality_by_score_alone():
    rows, dropped = run(
        FastTextQuality(str(fasttext_model_file()), label="en", alpha=None, min_score=0.5), [ENGLISH, GERMAN]
    )
    assert [row["text"] for row in rows] == [ENGLISH]
    assert dropped == {"low_score": 1}
    with pytest.raises(ConfigError, match="both empty"):
        FastTextQuality("x", alpha=None)
    with pytest.raises(ConfigError, match="alpha must be above 0"):
        FastTextQuality("x", alpha=0)


@pytest.mark.parametrize("stage", [FasttextClassify, FastTextQuality, Perplexity])
def test_model_files_that_are_missing_are_reported_before_the_run(stage, tmp_path):
    with pytest.raises(PipelineError, match="there is no model file"):
        run(stage(str(tmp_path / "gone.bin")))


def test_a_file_that_is_no_fasttext_model_is_reported(tmp_path):
    file = tmp_path / "model.bin"
    file.write_bytes(b"not a model")
    with pytest.raises(StageError, match="is not a fastText model"):
        run(FasttextClassify(str(file)))


def test_perplexity_is_that_of_the_model_over_words_and_sentence_ends():
    pytest.importorskip("kenlm")
    stage = Perplexity(str(language_model_file()), tag=True)
    rows, _ = run(stage, ["good text", "good text\n\ngood text", "text", "", None])
    found = [row["perplexity_score"] for row in rows]
    # log10: <s> good -0.2, good text -0.1, text </s> -0.3
    assert found[0] == pytest.approx(10 ** (0.6 / 3), rel=1e-5)
    assert found[1] == pytest.approx(found[0], rel=1e-5)
    # <s> backs off -0.3 to text -0.9, then text </s> -0.3
    assert found[2] == pytest.approx(10 ** (1.5 / 2), rel=1e-5)
    assert found[3:] == [None, None]


def test_perplexity_keeps_what_is_between_the_limits():
    pytest.importorskip("kenlm")
    texts = ["good text", "text", "unknown words here", "GOOD TEXT", ""]
    rows, dropped = run(
        Perplexity(str(language_model_file()), min_perplexity=2, max_perplexity=6, lowercase=True), texts
    )
    assert [row["text"] for row in rows] == ["text"]
    assert dropped == {"low_perplexity": 2, "high_perplexity": 1, "missing_value": 1}


def test_a_file_that_is_no_language_model_is_reported(tmp_path):
    pytest.importorskip("kenlm")
    file = tmp_path / "model.arpa"
    file.write_text("not a model")
    with pytest.raises(StageError, match=r"is not a model of KenLM"):
        run(Perplexity(str(file)))


def test_stages_name_the_extra_that_installs_what_they_need():
    specs = default_registry().stages
    assert {name: specs[f"text.{name}"].spec.extra for name in ("embed", "perplexity", "fast_text_quality", "llm")} == {
        "embed": "models",
        "perplexity": "kenlm",
        "fast_text_quality": "fasttext",
        "llm": None,
    }
