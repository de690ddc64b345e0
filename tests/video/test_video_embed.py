"""video.embed: the mean of the vectors of some frames, wherever the frames come from."""

import numpy as np
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError
from curator_image import ImageEncoder
from curator_video import Embed, Read, SampleFrames, SplitFixed, VideoBatch
from curator_video.frame_jpeg import decode_jpeg
from tests.support.made_videos import make_video
from tests.support.tiny_vision_models import vision_model


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    return make_video(tmp_path_factory.mktemp("embed") / "a.mp4", scenes=(12, 12), gop=12)


def embedded(*stages):
    return [row for batch in Pipeline(stages=list(stages)).run(LocalExecutor()) for row in batch.data.to_pylist()]


def test_the_vector_of_a_clip_is_the_mean_of_its_frames(video):
    model = str(vision_model("clip"))
    (row,) = embedded(Read(video), SampleFrames(count=3), Embed(model, frames_column="frames", normalize=False))
    encoder = ImageEncoder.load(model, stage="test")
    expected = encoder.encode([decode_jpeg(each) for each in row["frames"]]).mean(axis=0)
    np.testing.assert_allclose(row["embedding"], expected, rtol=1e-4, atol=1e-6)
    (unit,) = embedded(Read(video), SampleFrames(count=3), Embed(model, frames_column="frames"))
    np.testing.assert_allclose(unit["embedding"], expected / np.linalg.norm(expected), rtol=1e-4, atol=1e-6)


def test_frames_are_taken_where_there_are_none_and_leave_no_column(video):
    model = str(vision_model("clip"))
    rows = embedded(Read(video), SplitFixed(length_s=1, min_rest_s=0.5), Embed(model, count=2))
    assert len(rows) == 2
    assert not any(name.startswith("_embedding") for name in rows[0])
    one, two = (np.array(row["embedding"]) for row in rows)
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-5)
    assert one @ two < 0.9999, "the scenes have different colours"


def test_a_frame_that_is_no_picture_is_one_quarantined_row(video):
    model = str(vision_model("clip"))
    (good,) = embedded(Read(video), SampleFrames(count=1))
    batch = VideoBatch(data={"frames": [good["frames"], [b"not a picture"], None, []], "n": [0, 1, 2, 3]})
    result = Pipeline(stages=[Embed(model, frames_column="frames")]).run(LocalExecutor(), initial_tasks=[batch])
    rows = [row for each in result for row in each.data.to_pylist()]
    assert [(row["n"], row["embedding"] is not None) for row in rows] == [(0, True), (2, False), (3, False)]
    assert [record.error_type for record in result.quarantined] == ["UnreadableFrame"]


def test_impossible_settings_are_refused():
    with pytest.raises(ConfigError, match="count"):
        Embed("model", count=0)
    with pytest.raises(ConfigError, match="model_batch_size"):
        Embed("model", model_batch_size=0)
