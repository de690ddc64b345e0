"""Speech models of transformers: those that write text (Whisper and its kin) and those that label frames (CTC)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_audio.speech.chunks import split_quietly
from curator_core.sdk import StageError, load_pretrained, quiet_transformers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curator_audio.sound.opening import Samples
    from curator_core.sdk import LoadSettings

__all__ = ["TransformersRecogniser"]

_MIN_S = 0.1  # below this the first layers of some models have nothing to work on


class TransformersRecogniser:
    """A model, which may be put on another device.

    Args:
        folder: Where its files are.
        settings: Settings for loading.
        chunk_s: Maximum seconds of a recording per model input.
        batch_size: Maximum number of parts per call of the model.
        language: Language that is spoken, for models that ask.
        max_new_tokens: Maximum number of tokens that it writes for a part.
        stage: Name of the stage, for messages.

    Raises:
        StageError: The folder holds no speech model that can be used.
    """

    def __init__(
        self,
        folder: Path,
        settings: LoadSettings,
        *,
        chunk_s: float,
        batch_size: int,
        language: str | None,
        max_new_tokens: int | None,
        stage: str,
    ) -> None:
        import transformers

        self._chunk_s = chunk_s
        self._batch_size = batch_size
        asked = {"language": language, "task": language and "transcribe", "max_new_tokens": max_new_tokens}
        self._asked = {name: value for name, value in asked.items() if value is not None}
        options = {"local_files_only": True, "trust_remote_code": settings.trust_remote_code}
        try:
            with quiet_transformers():
                config = transformers.AutoConfig.from_pretrained(str(folder), **options)
                self._features = transformers.AutoFeatureExtractor.from_pretrained(str(folder), **options)
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **options)
        except Exception as error:  # the library raises OSError, ValueError, KeyError and more for bad folders
            raise StageError(
                f"{stage}: no speech model can be loaded from {folder}: {type(error).__name__}: {error}",
                fix="give a folder with a model, a feature extractor and a tokenizer, as save_pretrained writes them",
            ) from error
        self._is_ctc = any(name.endswith("ForCTC") for name in config.architectures or ())
        kind = transformers.AutoModelForCTC if self._is_ctc else transformers.AutoModelForSpeechSeq2Seq
        self.module = load_pretrained(kind, folder, settings, stage=stage)

    @property
    def rate(self) -> int:
        return int(self._features.sampling_rate)

    def transcribe(self, recordings: Sequence[Samples]) -> list[str]:
        """Cut the recordings into parts, recognise these in batches, and join the texts of each recording."""
        max_samples = int(min(self._chunk_s, getattr(self._features, "chunk_length", np.inf)) * self.rate)
        parts = [
            split_quietly(each, max_samples=max_samples, rate=self.rate) if len(each) else [] for each in recordings
        ]
        flat = list(chain.from_iterable(parts))
        size = self._batch_size if self._can_pad else 1
        texts = iter([text for at in range(0, len(flat), size) for text in self._batch(flat[at : at + size])])
        return [" ".join(filter(None, (next(texts).strip() for _ in each))) for each in parts]

    @property
    def _can_pad(self) -> bool:
        """Whether recordings of different lengths can share a call without changing each other's results."""
        return not self._is_ctc or bool(getattr(self._features, "return_attention_mask", False))

    def _batch(self, parts: Sequence[Samples]) -> list[str]:
        min_samples = int(_MIN_S * self.rate)
        parts = [np.pad(part, (0, max(0, min_samples - len(part)))) for part in parts]
        # Whisper hears exactly 30 s, and its extractor pads to that by itself.
        padding = {} if hasattr(self._features, "chunk_length") else {"padding": True}
        inputs = self._features(parts, sampling_rate=self.rate, return_tensors="pt", **padding)
        ids = self._ids({name: value.to(self.module.device) for name, value in inputs.items()})
        texts: list[str] = self._tokenizer.batch_decode(ids, skip_special_tokens=True)
        return texts

    def _ids(self, inputs: dict[str, Any]) -> Any:
        if self._is_ctc:
            return self._labels(inputs)
        with quiet_transformers():
            return self.module.generate(**inputs, do_sample=False, num_beams=1, **self._asked)

    def _labels(self, inputs: dict[str, Any]) -> list[Any]:
        """Return the most probable label of each frame, without padding frames."""
        labels = self.module(**inputs).logits.argmax(dim=-1)
        mask = inputs.get("attention_mask")
        if mask is None:
            return list(labels)
        lengths = mask.sum(dim=-1)
        count_frames = getattr(self.module, "_get_feat_extract_output_lengths", None)
        # Without that, the model is fed spectra, and a frame stands for a fixed number of their rows.
        frames = count_frames(lengths) if count_frames else -(-lengths * labels.shape[1] // mask.shape[1])
        return [row[:count] for row, count in zip(labels, frames.tolist(), strict=True)]
