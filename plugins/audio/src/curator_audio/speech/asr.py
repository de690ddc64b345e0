"""Transcribe recordings."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa

from curator_audio.sound.decoding import Channel, check_channel
from curator_audio.sound.limits import AudioLimits
from curator_audio.sound.samples import mono_samples
from curator_audio.sound.source import AudioSource
from curator_audio.speech.pocketsphinx_recogniser import PocketsphinxRecogniser
from curator_audio.speech.transformers_recogniser import TransformersRecogniser
from curator_core.sdk import (
    BYTES_COLUMN,
    ConfigError,
    MissingPackageError,
    ModelStage,
    Precision,
    check_allowed_locations,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_audio.sound.opening import Samples
    from curator_audio.speech.recogniser import Recogniser
    from curator_core.sdk import Columns, DataError, TableBatch

__all__ = ["Asr"]

_NEEDS = {
    "transformers": ("models", ("torch", "transformers", "safetensors")),
    "pocketsphinx": ("pocketsphinx", ("pocketsphinx",)),
}


@dataclass
class Asr(ModelStage):
    """Transcribe each recording to the column ``transcript``.

    Any speech model of transformers can be used: one that writes text, such as Whisper, or one that labels frames
    (CTC), such as wav2vec 2.0. A recording longer than ``chunk_s`` is cut at quiet moments and the texts are joined by
    spaces; ``audio.vad`` before this stage cuts better. The backend ``pocketsphinx`` needs no model: its package
    carries one for English, of modest quality. A file that cannot be decoded is quarantined; a row without sound gets a
    null, a recording of no samples an empty text.

    >>> Asr(backend="pocketsphinx").outputs()
    ['transcript']

    Args:
        model: Folder with a model of transformers, or an id on the Hugging Face hub.
        backend: ``transformers`` or ``pocketsphinx``.
        transcript_column: Column for the text.
        language: Language that is spoken (``en``), for models that know several; otherwise they guess.
        chunk_s: Maximum seconds of a recording per model input.
        model_batch_size: Maximum number of parts per call of the model.
        max_new_tokens: Maximum number of tokens that the model writes for a part; its own limit unless given.
        device: ``auto`` (a GPU where the worker has one), ``cpu``, ``cuda``, ``mps``.
        precision: Arithmetic on CUDA: ``float32``, ``bfloat16``, ``float16`` or the better of the last two.
        allow_pickle: Load weights that are not safetensors. Such files can run code.
        trust_remote_code: Run Python code that comes with the model.
        channel: Which channel is heard: ``mean`` of all, ``left``, ``right``, or a number, counted from 0.
        bytes_column: Column with the encoded audio; None to open the files.
        uri_column: Column with the paths or URLs of the files, where they are opened.
        max_duration_s: A longer recording is quarantined.
        allowed_locations: Folders or URL prefixes whose files rows may name, beside the place they were read from.
    """

    model: str | None = None
    backend: Literal["transformers", "pocketsphinx"] = "transformers"
    transcript_column: str = "transcript"
    language: str | None = None
    chunk_s: float = 30.0
    model_batch_size: int = 8
    max_new_tokens: int | None = None
    device: str = "auto"
    precision: Precision = "auto"
    allow_pickle: bool = False
    trust_remote_code: bool = False
    channel: Channel = "mean"
    bytes_column: str | None = BYTES_COLUMN
    uri_column: str = "uri"
    max_duration_s: float = AudioLimits().max_duration_s
    allowed_locations: list[str] | None = None

    name = "audio.asr"
    unreadable: ClassVar[str] = "UnreadableAudio"

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        check_channel(self.name, self.channel)
        if (self.model is None) == (self.backend == "transformers"):
            raise ConfigError(
                f"{self.name}: the backend {self.backend!r} {'needs a' if self.model is None else 'takes no'} model",
                fix="give model: FOLDER, or backend: pocketsphinx",
            )
        if self.chunk_s <= 0 or self.model_batch_size < 1:
            raise ConfigError(f"{self.name}: chunk_s and model_batch_size must be positive")
        self.uses_torch = self.model is not None

    def inputs(self) -> Columns:
        return [self._source.column]

    def outputs(self) -> Columns:
        return [self.transcript_column]

    def preflight(self) -> Sequence[str] | None:
        """Check that the backend is installed and the model can be one.

        Raises:
            MissingPackageError: A package is not installed.
            ConfigError: There is no such model.
        """
        extra, packages = _NEEDS[self.backend]
        for package in packages:
            if find_spec(package) is None:
                raise MissingPackageError(f"stage {self.name!r}", package=package, pip=f'"curator-audio[{extra}]"')
        return super().preflight()

    def weights(self) -> str | None:
        return self.model

    def load(self, device: str) -> Recogniser:  # noqa: ARG002 - it is put there afterwards
        if self.model is None:
            return PocketsphinxRecogniser(stage=self.name)
        return TransformersRecogniser(
            self.weights_folder(),
            self,
            chunk_s=self.chunk_s,
            batch_size=self.model_batch_size,
            language=self.language,
            max_new_tokens=self.max_new_tokens,
            stage=self.name,
        )

    def output_types(self, model: Recogniser) -> dict[str, pa.DataType]:  # noqa: ARG002
        return {self.transcript_column: pa.string()}

    def prepare(self, model: Recogniser, batch: TableBatch) -> Iterator[Samples | DataError | None]:
        return mono_samples(batch, self._source, rate=model.rate)

    def predict(self, model: Recogniser, rows: list[Samples]) -> list[str]:
        return model.transcribe(rows)

    @property
    def _source(self) -> AudioSource:
        limits = AudioLimits(max_duration_s=self.max_duration_s)
        return AudioSource(self.bytes_column, self.uri_column, limits, self.allowed_locations, self.channel)
