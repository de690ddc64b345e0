"""Add what is said in recordings."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa

from curator_audio.sound.decoding import Channel, check_channel
from curator_audio.sound.limits import AudioLimits
from curator_audio.sound.samples import mono_samples
from curator_audio.sound.source import AudioSource
from curator_audio.speech.asr_settings import AsrSettings
from curator_audio.speech.pocketsphinx_recogniser import PocketsphinxRecogniser
from curator_audio.speech.transformers_recogniser import TransformersRecogniser
from curator_core.sdk import (
    BYTES_COLUMN,
    ConfigError,
    DataError,
    MissingPackageError,
    Precision,
    ProcessingStage,
    TableBatch,
    check_allowed_locations,
    check_model_name,
    find_model_folder,
    keep_readable,
    limit_threads,
    may_use_gpu,
    restore_threads,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curator_audio.sound.opening import Samples
    from curator_audio.speech.recogniser import Recogniser
    from curator_core.sdk import Columns, NodeInfo, WorkerInfo

__all__ = ["Asr"]

_NEEDS = {
    "transformers": ("models", ("torch", "transformers", "safetensors")),
    "pocketsphinx": ("pocketsphinx", ("pocketsphinx",)),
}


@dataclass
class Asr(ProcessingStage[TableBatch, TableBatch]):
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
        transcript_field: Column for the text.
        language: Language that is spoken (``en``), for models that know several; otherwise they guess.
        chunk_s: Longest part of a recording that the model hears at once.
        model_batch_size: Most parts in one call of the model.
        max_new_tokens: Most tokens that the model writes for a part; its own limit unless given.
        device: ``auto`` (a GPU where the worker has one), ``cpu``, ``cuda``, ``mps``.
        precision: Arithmetic on CUDA: ``float32``, ``bfloat16``, ``float16`` or the better of the last two.
        allow_pickle: Load weights that are not safetensors. Such files can run code.
        trust_remote_code: Run Python code that comes with the model.
        channel: Which channel is heard: ``mean`` of all, ``left``, ``right``, or a number, counted from 0.
        bytes_field: Column with the encoded audio; None to open the files.
        uri_field: Column with the paths or URLs of the files, where they are opened.
        max_duration_s: A longer recording is quarantined.
        allowed_locations: Folders or URL prefixes whose files rows may name, beside the place they were read from.
    """

    model: str | None = None
    backend: Literal["transformers", "pocketsphinx"] = "transformers"
    transcript_field: str = "transcript"
    language: str | None = None
    chunk_s: float = 30.0
    model_batch_size: int = 8
    max_new_tokens: int | None = None
    device: str = "auto"
    precision: Precision = "auto"
    allow_pickle: bool = False
    trust_remote_code: bool = False
    channel: Channel = "mean"
    bytes_field: str | None = BYTES_COLUMN
    uri_field: str = "uri"
    max_duration_s: float = AudioLimits().max_duration_s
    allowed_locations: list[str] | None = None

    name = "audio.asr"
    fuse = False  # every worker has the weights in memory, so there are only as many as the model needs
    row_wise: ClassVar[bool] = True

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

    def inputs(self) -> Columns:
        return [self._source.column]

    def outputs(self) -> Columns:
        return [self.transcript_field]

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
        if self.model is not None:
            check_model_name(self.name, self.model)
        return None

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        """Fetch the model, once a machine."""
        if self.model is not None:
            self._folder(self.model)

    def setup(self, worker: WorkerInfo) -> None:
        """Load the recogniser."""
        if self.model is None:
            self._recogniser: Recogniser = PocketsphinxRecogniser(stage=self.name)
            return
        self._threads = limit_threads(self.resources.cpus)
        self._recogniser = TransformersRecogniser(
            self._folder(self.model),
            self._settings(),
            stage=self.name,
            gpu_allowed=may_use_gpu(self.resources, worker),
        )

    def teardown(self) -> None:
        self.__dict__.pop("_recogniser", None)
        threads = self.__dict__.pop("_threads", None)
        if threads is not None:
            restore_threads(threads)

    def process(self, task: TableBatch) -> TableBatch | None:
        """Transcribe a batch."""
        outcomes = self._outcomes(task)
        batch, texts = keep_readable(task, outcomes, error_type="UnreadableAudio")
        if task.num_rows and not texts:
            return None
        return batch.with_column(self.transcript_field, pa.array(texts, pa.string()))

    def _outcomes(self, task: TableBatch) -> list[str | DataError | None]:
        """Return the text of each row; rows go to the recogniser a few at a time, so that few samples are held."""
        outcomes: list[str | DataError | None] = []
        waiting: list[tuple[int, Samples]] = []

        def transcribe() -> None:
            for (index, _), text in zip(waiting, self._recogniser.transcribe([s for _, s in waiting]), strict=True):
                outcomes[index] = text
            waiting.clear()

        for index, samples in enumerate(mono_samples(task, self._source, rate=self._recogniser.rate)):
            if samples is None or isinstance(samples, DataError):
                outcomes.append(samples)
                continue
            outcomes.append(None)
            waiting.append((index, samples))
            if len(waiting) == self.model_batch_size:
                transcribe()
        transcribe()
        return outcomes

    @property
    def _source(self) -> AudioSource:
        limits = AudioLimits(max_duration_s=self.max_duration_s)
        return AudioSource(self.bytes_field, self.uri_field, limits, self.allowed_locations, self.channel)

    def _folder(self, model: str) -> Path:
        return find_model_folder(
            model, stage=self.name, allow_pickle=self.allow_pickle, trust_remote_code=self.trust_remote_code
        )

    def _settings(self) -> AsrSettings:
        return AsrSettings(
            language=self.language,
            chunk_s=self.chunk_s,
            model_batch_size=self.model_batch_size,
            max_new_tokens=self.max_new_tokens,
            device=self.device,
            precision=self.precision,
            allow_pickle=self.allow_pickle,
            trust_remote_code=self.trust_remote_code,
        )
