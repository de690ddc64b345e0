"""Vision models of a few kilobytes with random weights, made on the spot: no test downloads anything."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

SIDE = 32
VISION = {
    "hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 4,
    "image_size": SIDE, "patch_size": 8,
}  # fmt: skip
TEXT = {
    "hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 50,
}  # fmt: skip
SQUARE = {"height": SIDE, "width": SIDE}
WIDTHS = {"clip": 16, "clip_vision": 16, "siglip": 32, "blip": 16, "vit": 32, "vit_classifier": 32, "dinov2": 32,
          "convnext": 24}  # fmt: skip
"""Kinds of models, and how many numbers each makes of a picture."""


@functools.cache
def vision_model(kind: str) -> Path:
    """Return a folder with a model of a kind, as ``save_pretrained`` writes it."""
    import torch

    path = Path(tempfile.mkdtemp(prefix=f"tiny-{kind}-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = _models()[kind]()
    model.save_pretrained(path)
    _processor(kind).save_pretrained(path)
    return path


def _models():
    import transformers as t

    return {
        "clip": lambda: t.CLIPModel(t.CLIPConfig(text_config=TEXT, vision_config=VISION, projection_dim=16)),
        "clip_vision": lambda: t.CLIPVisionModelWithProjection(t.CLIPVisionConfig(**VISION, projection_dim=16)),
        "siglip": lambda: t.SiglipModel(t.SiglipConfig(text_config=TEXT, vision_config=VISION)),
        "blip": lambda: t.BlipModel(
            t.BlipConfig(text_config=TEXT, vision_config={**VISION, "initializer_range": 0.02}, projection_dim=16)
        ),
        "vit": lambda: t.ViTModel(t.ViTConfig(**VISION)),
        "vit_classifier": lambda: t.ViTForImageClassification(t.ViTConfig(**VISION)),
        "dinov2": lambda: t.Dinov2Model(t.Dinov2Config(**VISION)),
        "convnext": lambda: t.ConvNextModel(t.ConvNextConfig(hidden_sizes=[8, 8, 16, 24], depths=[1] * 4)),
    }


def _processor(kind):
    import transformers as t

    shortest = {"size": {"shortest_edge": SIDE}, "crop_size": SQUARE}
    return {
        "clip": lambda: t.CLIPImageProcessorPil(**shortest),
        "clip_vision": lambda: t.CLIPImageProcessorPil(**shortest),
        "siglip": lambda: t.SiglipImageProcessorPil(size=SQUARE),
        "blip": lambda: t.BlipImageProcessorPil(size=SQUARE),
        "vit": lambda: t.ViTImageProcessorPil(size=SQUARE),
        "vit_classifier": lambda: t.ViTImageProcessorPil(size=SQUARE),
        "dinov2": lambda: t.BitImageProcessorPil(**shortest),
        "convnext": lambda: t.ConvNextImageProcessorPil(size={"shortest_edge": SIDE}),
    }[kind]()
