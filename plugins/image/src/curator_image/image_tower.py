"""The part of a vision model that looks at pictures: pixels in, one vector per picture out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.sdk import StageError, load_pretrained

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from curator_core.sdk import LoadSettings

__all__ = ["ImageTower", "load_image_tower"]

_TEXT_PARTS = ("text_model", "text_projection", "text_encoder", "text_proj")
_UNUSED = ("pooler.dense.", "text_model.", "text_projection", "logit_")
"""Weights of which nothing is made here, so that a checkpoint may lack them."""
_IMAGE_DIMS, _SEQUENCE_DIMS = 4, 3


class ImageTower:
    """Makes one vector of a picture, with the layers that the model has for it.

    In this order: the features that a model of pictures and texts compares with texts (``get_image_features``,
    ``image_embeds``), the pooled output, the vector of the class token, the mean over all places. The pooled output of
    ViT and its kin is passed over: it comes from a layer that only pre-training used and most checkpoints lack.

    Args:
        module: A vision model of transformers.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        for name in _TEXT_PARTS:
            if getattr(module, name, None) is not None:
                setattr(module, name, None)  # half of the weights, never used
        self.module = module
        self._has_features = hasattr(module, "get_image_features")
        self._has_untrained_pooler = hasattr(getattr(module, "pooler", None), "dense")
        self._has_class_token = any(name.endswith("cls_token") for name, _ in module.named_parameters())

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        """Return one vector per picture."""
        if self._has_features:
            return _vectors_of(self.module.get_image_features(pixel_values=pixels))
        output = self.module(pixel_values=pixels)
        if getattr(output, "image_embeds", None) is not None:
            return _vectors_of(output.image_embeds)
        if getattr(output, "pooler_output", None) is not None and not self._has_untrained_pooler:
            return _vectors_of(output.pooler_output)
        hidden = output.last_hidden_state
        if hidden.ndim == _IMAGE_DIMS:
            return hidden.mean(dim=(2, 3))
        return hidden[:, 0] if self._has_class_token else hidden.mean(dim=1)


def load_image_tower(folder: Path, settings: LoadSettings, *, stage: str) -> ImageTower:
    """Load the model in a folder.

    Raises:
        StageError: It cannot be loaded, or does not look at pictures.
    """
    module = load_pretrained(_model_class(folder), folder, settings, stage=stage, unused=_UNUSED)
    if not hasattr(module, "get_image_features") and getattr(module, "main_input_name", "") != "pixel_values":
        raise StageError(
            f"{stage}: the model in {folder} takes {module.main_input_name!r}, not pictures",
            fix="give a vision model, or one of pictures and texts such as CLIP",
        )
    return ImageTower(module)


def _model_class(folder: Path) -> Any:
    """Return what loads a folder: ``AutoModel``, but for parts of CLIP with a projection, which that would drop."""
    import json

    import transformers

    try:
        architectures = json.loads((folder / "config.json").read_bytes()).get("architectures") or [""]
    except (OSError, ValueError, AttributeError):  # loading will say what is wrong with it
        architectures = [""]
    if str(architectures[0]).endswith("VisionModelWithProjection"):
        return getattr(transformers, architectures[0], transformers.AutoModel)
    return transformers.AutoModel


def _vectors_of(output: Any) -> torch.Tensor:
    """Return one row per picture: some versions return the features, others wrap them; some keep empty dimensions."""
    vectors: torch.Tensor = output if hasattr(output, "ndim") else output.pooler_output
    if vectors.ndim == _SEQUENCE_DIMS:  # one vector per query, as in BLIP-2
        vectors = vectors.mean(dim=1)
    return vectors.flatten(1)
