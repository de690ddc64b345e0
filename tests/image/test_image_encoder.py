"""ImageEncoder: any vision model in a folder, pictures of any size, batches that do not change the result."""

import json
import shutil

import numpy as np
import pytest

from curator_core.values.errors import StageError
from curator_image.image_encoder import ImageEncoder
from tests.support.tiny_vision_models import SIDE, WIDTHS, vision_model


def pictures(count=5):
    rng = np.random.default_rng(1)
    return [rng.integers(0, 256, (20 + 9 * n, 50 - 7 * n, 3), dtype=np.uint8) for n in range(count)]


@pytest.mark.parametrize(("kind", "width"), WIDTHS.items())
def test_every_kind_of_model_makes_one_vector_per_picture(kind, width):
    encoder = ImageEncoder.load(str(vision_model(kind)), stage="test")
    vectors = encoder.encode(pictures())
    assert vectors.shape == (5, width) == (5, encoder.width)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert len(np.unique(vectors.round(6), axis=0)) == 5
    assert encoder.picture_side == SIDE
    assert encoder.encode([]).shape == (0, width)


def test_vectors_of_clip_are_those_it_compares_with_texts():
    import torch
    from transformers import CLIPImageProcessorPil, CLIPModel

    folder = str(vision_model("clip"))
    pixels = CLIPImageProcessorPil.from_pretrained(folder)(images=pictures(), return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        expected = CLIPModel.from_pretrained(folder).eval().get_image_features(pixel_values=pixels).pooler_output
    found = ImageEncoder.load(folder, stage="test").encode(pictures())
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4, atol=1e-6)


def test_the_size_of_batches_and_the_layer_that_checkpoints_lack_do_not_matter():
    def encoder(kind, **options):
        return ImageEncoder.load(str(vision_model(kind)), stage="test", **options)

    vit, some = encoder("vit"), pictures()
    alone = np.concatenate([vit.encode([each]) for each in some])
    np.testing.assert_allclose(alone, vit.encode(some), rtol=1e-4, atol=1e-6)
    one, other = (encoder("vit_classifier").encode(some) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    lengths = np.linalg.norm(encoder("clip", normalize=True).encode(some), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)


def test_what_is_not_a_vision_model_is_refused_with_a_fix(tmp_path):
    from transformers import BertConfig, BertModel

    with pytest.raises(StageError, match="does not say how pictures are prepared") as refused:
        ImageEncoder.load(str(tmp_path), stage="image.embed")
    assert "preprocessor_config.json" in refused.value.fix
    BertModel(BertConfig(**TEXT_ONLY)).save_pretrained(tmp_path)
    shutil.copy(vision_model("vit") / "preprocessor_config.json", tmp_path)
    with pytest.raises(StageError, match="takes 'input_ids', not pictures"):
        ImageEncoder.load(str(tmp_path), stage="image.embed")


def test_incomplete_weights_are_refused(tmp_path):
    folder = shutil.copytree(vision_model("vit"), tmp_path / "vit")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    with pytest.raises(StageError, match="lack"):
        ImageEncoder.load(str(folder), stage="image.embed")


def test_wrong_pictures_are_refused():
    encoder = ImageEncoder.load(str(vision_model("vit")), stage="image.embed")
    with pytest.raises(StageError, match=r"height by width by 3"):
        encoder.encode([np.zeros((8, 8), np.uint8)])


TEXT_ONLY = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 4}
