"""image.embed and image.nsfw: real models on real files, broken ones quarantined."""

import numpy as np
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError, UnknownNameError
from curator_image import Embed, ImageBatch, ImageEncoder, Nsfw
from curator_image.nudity_model import INPUT_SIDE, LABELS, prepared
from tests.support.picture_files import encoded, scene
from tests.support.tiny_vision_models import vision_model


def images(*values):
    names = [f"{number}.jpg" for number in range(len(values))]
    return ImageBatch(data={"bytes": list(values), "_source": names, "_row": [0] * len(values)})


def run(batch, stage):
    return Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])


def test_embeddings_are_those_of_the_model_for_each_row():
    pictures = [scene(seed, 64, 48) for seed in range(5)]
    batch = images(*(encoded(each, "PNG") for each in pictures), None, b"broken")
    result = run(batch, Embed(str(vision_model("clip")), model_batch_size=2))
    column = result[0].data["embedding"].combine_chunks()
    assert column.type.list_size == 16
    assert str(column.type.value_type) == "float"
    assert column.null_count == 1
    assert not column[5].is_valid
    expected = ImageEncoder.load(str(vision_model("clip")), stage="test").encode(
        [np.asarray(each) for each in pictures]
    )
    found = np.array([column[row].as_py() for row in range(5)], np.float32)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert [(record.source, record.error_type) for record in result.quarantined] == [("6.jpg", "UnreadableImage")]


def test_lengths_can_be_one_and_large_images_are_scaled_while_decoding():
    picture = scene(1, 800, 600)
    batch = images(encoded(picture), encoded(picture, "PNG"))
    (out,) = run(batch, Embed(str(vision_model("dinov2")), column="vector", normalize=True))
    one, other = (np.array(value) for value in out.data["vector"].to_pylist())
    assert np.linalg.norm(one) == pytest.approx(1, rel=1e-5)
    assert one @ other > 0.99
    full = ImageEncoder.load(str(vision_model("dinov2")), stage="test").encode([np.asarray(picture)])[0]
    assert one @ full / np.linalg.norm(full) > 0.98


def test_a_batch_without_images_has_null_embeddings():
    (out,) = run(images(None, None), Embed(str(vision_model("clip"))))
    assert out.data["embedding"].null_count == 2
    assert len(run(images(b"x"), Embed(str(vision_model("clip"))))) == 0


def test_a_model_that_is_not_there_is_refused_before_the_run(tmp_path):
    with pytest.raises(Exception, match="there is no model"):
        Pipeline(stages=[Embed(str(tmp_path / "nothing"))]).build()
    with pytest.raises(ConfigError, match="model_batch_size"):
        Embed("model", model_batch_size=0)


def test_harmless_pictures_have_low_scores():
    batch = images(*(encoded(scene(seed)) for seed in range(3)), None, b"broken")
    result = run(batch, Nsfw(tag=True, scores_column="labels"))
    (out,) = result
    scores = out.data["nsfw_score"].to_pylist()
    assert all(0 <= score < 0.5 for score in scores[:3])
    assert scores[3] is None
    assert out.data["nsfw_reason"].to_pylist() == [None, None, None, "missing_value"]
    assert [len(each or []) for each in out.data["labels"].to_pylist()] == [0, 0, 0, 0]
    assert result.quarantined_count == 1
    dropped = run(images(encoded(scene(0))), Nsfw(max_score=0, labels=["face_male", "feet_exposed"]))
    assert dropped.stats["image.nsfw"].dropped == {"nudity": 1}


def test_the_model_sees_what_its_own_package_would_show_it():
    package = pytest.importorskip("nudenet.nudenet")
    for size in ((INPUT_SIDE, INPUT_SIDE), (320, 200), (150, 320)):
        rgb = np.asarray(scene(2, *size))
        theirs = package._read_image(np.ascontiguousarray(rgb[..., ::-1]), INPUT_SIDE)[0][0]
        np.testing.assert_allclose(prepared(rgb), theirs, atol=1e-6)
    assert [label.upper() for label in LABELS] == package.__dict__["__labels"]


def test_wrong_settings_are_refused():
    with pytest.raises(ConfigError, match="between 0 and 1"):
        Nsfw(max_score=2)
    with pytest.raises(UnknownNameError, match="did you mean 'face_male'"):
        Nsfw(labels=["face_mal"])
