"""A transformer with pooling, linear layers and normalisation: text in, one vector out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from curator_core.sdk import StageError, load_pretrained
from curator_text.models.sentence_layout import read_sentence_layout
from curator_text.models.tokenizer_loading import read_json

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from curator_core.sdk import LoadSettings
    from curator_text.models.sentence_layout import Pooling

__all__ = ["EmbeddingNetwork", "load_embedding_network", "pool"]

_ACTIVATIONS = {"Identity": "Identity", "Tanh": "Tanh", "ReLU": "ReLU", "GELU": "GELU", "Sigmoid": "Sigmoid"}


class EmbeddingNetwork:
    """Makes one vector of a text.

    Args:
        transformer: The transformer.
        layers: Linear layers behind the pooling.
        pooling: How token vectors are joined.
        normalize: Whether vectors get length one.
        dimensions: How many of the first numbers are kept; all unless given.
    """

    def __init__(
        self,
        transformer: torch.nn.Module,
        layers: torch.nn.Sequential,
        *,
        pooling: Literal["mean", "cls", "last"],
        normalize: bool,
        dimensions: int | None,
    ) -> None:
        import torch

        self.module = torch.nn.ModuleList([transformer, layers])
        self._transformer = transformer
        self._layers = layers
        self._pooling = pooling
        self._normalize = normalize
        full = next(
            (layer.out_features for layer in reversed(layers) if isinstance(layer, torch.nn.Linear)),
            int(transformer.config.hidden_size),
        )
        if dimensions is not None and dimensions > full:
            raise StageError(f"dimensions={dimensions}, but the model makes {full}", fix=f"give at most {full}")
        self.width = dimensions or full
        self.pad_id = int(getattr(transformer.config, "pad_token_id", None) or 0)

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return one vector per text."""
        import torch

        hidden = self._transformer(input_ids=ids, attention_mask=mask).last_hidden_state
        vectors = self._layers(pool(hidden.float(), mask, self._pooling))[:, : self.width]
        return torch.nn.functional.normalize(vectors, dim=1) if self._normalize else vectors


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: Literal["mean", "cls", "last"]) -> torch.Tensor:
    """Join the vectors of a text's tokens; texts are padded on the right."""
    import torch

    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "last":
        return hidden[torch.arange(len(hidden), device=hidden.device), mask.sum(dim=1) - 1]
    weights = mask.to(hidden.dtype)
    return torch.bmm(weights.unsqueeze(1), hidden).squeeze(1) / weights.sum(dim=1, keepdim=True)


def load_embedding_network(
    folder: Path,
    settings: LoadSettings,
    *,
    pooling: Pooling,
    normalize: bool | None,
    dimensions: int | None,
    stage: str,
) -> EmbeddingNetwork:
    """Load a folder of transformers or sentence-transformers; given arguments override its settings."""
    import torch
    from transformers import AutoModel

    layout = read_sentence_layout(folder, stage=stage)
    transformer = load_pretrained(AutoModel, layout.transformer, settings, stage=stage, unused=("pooler.",))
    layers = torch.nn.Sequential(*(layer for path in layout.dense for layer in _dense(path, stage=stage)))
    return EmbeddingNetwork(
        transformer,
        layers,
        pooling=layout.pooling if pooling == "auto" else pooling,
        normalize=layout.normalize if normalize is None else normalize,
        dimensions=dimensions,
    )


def _dense(path: Path, *, stage: str) -> list[torch.nn.Module]:
    import torch
    from safetensors.torch import load_file

    config = read_json(path / "config.json")
    activation = str(config.get("activation_function", "Identity")).rpartition(".")[2]
    file = path / "model.safetensors"
    if activation not in _ACTIVATIONS or not file.exists():
        raise StageError(
            f"{stage}: {path} is not a linear layer that can be loaded (activation {activation}, {file.name})",
            fix=f"known activations are {', '.join(_ACTIVATIONS)}; weights must be in {file.name}",
        )
    weights = load_file(str(file))
    layer = torch.nn.Linear(config["in_features"], config["out_features"], bias="linear.bias" in weights)
    layer.load_state_dict({name.removeprefix("linear."): value for name, value in weights.items()})
    return [layer, getattr(torch.nn, _ACTIVATIONS[activation])()]
