"""A transformer with a classification head: text in, one number per label out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from curator_core.sdk import StageError, find_model_folder, load_pretrained, quiet_transformers
from curator_text.models.tokenizer_loading import read_json

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from curator_core.sdk import LoadSettings

__all__ = ["ClassifierNetwork", "Head", "load_classifier_network"]

Head = Literal["auto", "softmax", "sigmoid", "regression"]


class ClassifierNetwork:
    """Gives every label of a text a number: a probability, or a score where the head is a regression.

    Args:
        module: A model whose output has ``logits``.
        labels: Names of the labels, in the order of the logits.
        head: Function of the logits.
        pad_id: Token that fills short rows.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        labels: tuple[str, ...],
        head: Literal["softmax", "sigmoid", "regression"],
        *,
        pad_id: int,
    ) -> None:
        self.module = module
        self.labels = labels
        self.head = head
        self.pad_id = pad_id
        self.width = len(labels)

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return one number per text and label."""
        logits: torch.Tensor = self.module(input_ids=ids, attention_mask=mask).logits.float()
        if self.head == "softmax":
            return logits.softmax(dim=-1)
        return logits.sigmoid() if self.head == "sigmoid" else logits


def load_classifier_network(folder: Path, settings: LoadSettings, *, head: Head, stage: str) -> ClassifierNetwork:
    """Load a sequence classifier of transformers, or one in the layout of NVIDIA's DeBERTa classifiers."""
    if _has_own_head(folder):
        model = _load_with_own_head(folder, stage=stage)
    else:
        from transformers import AutoModelForSequenceClassification

        model = load_pretrained(AutoModelForSequenceClassification, folder, settings, stage=stage)
    config = model.config
    labels = tuple(str(config.id2label[index]) for index in range(len(config.id2label)))
    if head == "auto":
        head = "regression" if len(labels) == 1 else "softmax"
        if getattr(config, "problem_type", None) == "multi_label_classification":
            head = "sigmoid"
    if head == "regression" and len(labels) != 1:
        raise StageError(f"{stage}: the model has {len(labels)} outputs, which is no regression", fix="use head: auto")
    return ClassifierNetwork(model, labels, head, pad_id=int(getattr(config, "pad_token_id", None) or 0))


def _has_own_head(folder: Path) -> bool:
    """Return whether weights are those of a backbone (``model.*``) and one linear layer (``fc.*``)."""
    file = folder / "model.safetensors"
    if not file.exists():
        return False
    from safetensors import safe_open

    try:
        with safe_open(str(file), framework="np") as weights:
            names = set(weights.keys())
    except Exception:  # noqa: BLE001 - a broken file is reported by whoever loads it next
        return False
    return "fc.weight" in names and all(name.startswith(("model.", "fc.")) for name in names)


def _load_with_own_head(folder: Path, *, stage: str) -> Any:
    """Load a classifier that was saved through PyTorchModelHubMixin: the first token's vector, through one layer."""
    from safetensors.torch import load_file
    from transformers import AutoModel

    plain = read_json(folder / "config.json")
    weights = load_file(str(folder / "model.safetensors"))
    config = _backbone_config(folder, plain, stage=stage)
    with quiet_transformers():
        backbone = AutoModel.from_config(config)
    count = weights["fc.weight"].shape[0]
    named = {int(index): label for index, label in plain.get("id2label", {}).items()}
    config.id2label = {index: named.get(index, f"LABEL_{index}") for index in range(count)}
    model = _first_token_classifier(backbone, config)
    lost = model.load_state_dict(weights, strict=False)
    # Buffers such as position ids are in some files and not in others; a weight without a value would be noise.
    parameters = {name for name, _ in model.named_parameters()}
    missing = sorted(parameters.intersection(lost.missing_keys))
    if missing:
        raise StageError(
            f"{stage}: {folder / 'model.safetensors'} lacks {len(missing)} weights, {missing[0]!r} among them",
            fix="fetch the model again; its config.json must describe the backbone its weights are of",
        )
    return model


def _backbone_config(folder: Path, plain: dict[str, Any], *, stage: str) -> Any:
    from transformers import AutoConfig

    source = folder
    if "model_type" not in plain:
        base = plain.get("base_model")
        if not base:
            raise StageError(
                f"{stage}: {folder / 'config.json'} has neither model_type nor base_model",
                fix="add model_type and the sizes of the backbone to it",
            )
        source = find_model_folder(str(base), stage=stage, weights=False)
    try:
        return AutoConfig.from_pretrained(str(source), local_files_only=True)
    except Exception as error:  # the library raises several kinds
        raise StageError(
            f"{stage}: {source} does not describe a model that is known here: {type(error).__name__}: {error}",
            fix="give a folder with config.json and model.safetensors",
        ) from error


def _first_token_classifier(backbone: Any, config: Any) -> Any:
    import torch
    from transformers.modeling_outputs import SequenceClassifierOutput

    class FirstTokenClassifier(torch.nn.Module):  # type: ignore[misc]  # its type is not looked at
        """A backbone and a linear layer over its first token."""

        def __init__(self) -> None:
            super().__init__()
            self.model = backbone
            self.fc = torch.nn.Linear(config.hidden_size, len(config.id2label))
            self.config = config

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SequenceClassifierOutput:
            hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            return SequenceClassifierOutput(logits=self.fc(hidden[:, 0]))

    return FirstTokenClassifier()
