"""audio.asr: models of both kinds, small and untrained, and PocketSphinx."""

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from curator_audio import Asr
from curator_audio.speech.chunks import split_quietly
from curator_core.authoring.stage import WorkerInfo
from curator_core.values.errors import ConfigError, PipelineError, StageError
from tests.support.recordings import babble, batch_of, encoded, run, tone
from tests.support.tiny_models import ctc_model, whisper_model

SOUNDS = [babble(0.7, seed=seed) for seed in range(3)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    return {
        "whisper": whisper_model(base / "whisper"),
        "ctc": ctc_model(base / "ctc"),
        "ctc without masks": ctc_model(base / "ctc-group", masks=False),
    }


@pytest.mark.parametrize("kind", ["whisper", "ctc", "ctc without masks"])
def test_models_transcribe(folders, kind):
    contents = [*map(encoded, SOUNDS), None, encoded(np.zeros((0, 1))), b"junk", encoded(tone(0.01))]
    stage = Asr(folders[kind], model_batch_size=2)
    result, rows = run(stage, batch_of(*contents))
    texts = [row["transcript"] for row in rows]
    assert all(texts[:3])
    assert len(set(texts[:3])) > 1
    assert texts[3:5] == [None, ""]
    assert [record.source for record in result.quarantined] == ["5.bin"]
    _, alone = run(stage, *[batch_of(each) for each in contents[:3]])
    assert [row["transcript"] for row in alone] == texts[:3]


def test_the_text_of_a_ctc_model_is_the_most_probable_label_of_each_frame(folders):
    folder = folders["ctc without masks"]
    _, (row,) = run(Asr(folder, transcript_column="heard"), batch_of(encoded(SOUNDS[0], subtype="FLOAT")))
    model = transformers.AutoModelForCTC.from_pretrained(folder).eval()
    features = transformers.AutoFeatureExtractor.from_pretrained(folder)
    inputs = features(SOUNDS[0][:, 0], sampling_rate=16_000, return_tensors="pt")
    with torch.inference_mode():
        labels = model(inputs.input_values).logits.argmax(-1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert row["heard"] == tokenizer.decode(labels[0], skip_special_tokens=True).strip()


def test_long_recordings_are_heard_in_parts(folders):
    long = np.concatenate(SOUNDS)
    _, (whole,) = run(Asr(folders["ctc"]), batch_of(encoded(long)))
    _, (parts,) = run(Asr(folders["ctc"], chunk_s=0.5), batch_of(encoded(long)))
    assert len(parts["transcript"]) >= len(whole["transcript"]) * 0.8
    pieces = split_quietly(long[:, 0], max_samples=8_000, rate=16_000)
    texts = [row["transcript"] for row in run(Asr(folders["ctc"]), *[batch_of(encoded(p)) for p in pieces])[1]]
    assert parts["transcript"] == " ".join(filter(None, texts))


@given(st.integers(0, 5_000), st.integers(1, 1_500), st.sampled_from([100, 8_000, 16_000]))
def test_parts_are_the_whole(count, max_samples, rate):
    samples = np.arange(count, dtype=np.float32) % 97
    parts = split_quietly(samples, max_samples=max_samples, rate=rate)
    assert np.array_equal(np.concatenate(parts), samples)
    assert all(0 < len(part) <= max_samples for part in parts[: len(parts) if count else 0])


def test_cuts_are_quiet():
    talk = tone(3)[:, 0].copy()
    talk[14_000:15_000] = 0
    first, *_ = split_quietly(talk, max_samples=16_000, rate=16_000)
    assert 14_000 < len(first) < 15_000


def test_pocketsphinx_is_not_moved_by_what_came_before():
    contents = [
        encoded(babble(0.4, seed=1)),
        None,
        encoded(np.zeros((0, 1))),
        encoded(tone(0.3)),
        encoded(babble(0.4, seed=1)),
    ]
    _, rows = run(Asr(backend="pocketsphinx"), batch_of(*contents))
    texts = [row["transcript"] for row in rows]
    assert texts[1:3] == [None, ""]
    assert texts[0] == texts[4]


def test_what_cannot_be_a_recogniser(folders, tmp_path):
    with pytest.raises(ConfigError, match="needs a model"):
        Asr()
    with pytest.raises(ConfigError, match="takes no model"):
        Asr(folders["ctc"], backend="pocketsphinx")
    with pytest.raises(PipelineError, match="there is no model"):
        run(Asr(str(tmp_path / "nowhere" / "at" / "all")), batch_of(None))
    with pytest.raises(StageError, match="no speech model can be loaded"):
        Asr(str(tmp_path)).setup(WorkerInfo())
