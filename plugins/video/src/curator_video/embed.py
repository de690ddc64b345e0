"""Add a vector per clip, made by a vision model of some of its frames."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.sdk import CompositeStage, ConfigError, Precision, check_allowed_locations
from curator_video.batch import VideoBatch
from curator_video.embed_frames import EmbedFrames
from curator_video.limits import VideoLimits
from curator_video.sample_frames import SampleFrames

if TYPE_CHECKING:
    from curator_core.sdk import Columns, ProcessingStage

__all__ = ["Embed"]


@dataclass
class Embed(CompositeStage[VideoBatch, VideoBatch]):
    """Add the mean of the vectors that a vision model makes of ``count`` frames of each clip.

    Frames are taken in a stage of their own, on CPUs, and travel as JPEG to the model, which may run on a GPU
    (``with: {resources: {gpus: 1}}``). Where frames were sampled before, name their column in ``frames_column``.

    >>> [stage.name for stage in Embed("models/clip").decompose()]
    ['video.embed.frames', 'video.embed']

    Args:
        model: Folder of a vision model of transformers (CLIP, SigLIP, ViT, DINOv2, ConvNeXt, …), or an id on the hub.
        column: Where the vectors go.
        count: Frames per clip.
        frames_column: Column with lists of JPEG files, to be used instead of taking frames.
        max_side: Frames are scaled down to it before they travel; choose it larger than the input of the model.
        normalize: Scale each clip's vector to length one.
        model_batch_size: Maximum number of frames per call of the model.
        device: ``auto``, or a device of torch.
        precision: Arithmetic on CUDA; elsewhere always ``float32``.
        allow_pickle: Load weights that are pickles.
        trust_remote_code: Run Python code that comes with the model.
        uri_column: Column with the paths of local files.
        bytes_column: Column with their content, to be used instead of opening them.
        limits: Limits on size and time.
        allowed_locations: Folders whose files rows may name, beside the place they were read from.
    """

    model: str
    column: str = "embedding"
    count: int = 4
    frames_column: str | None = None
    max_side: int = 480
    normalize: bool = True
    model_batch_size: int = 32
    device: str = "auto"
    precision: Precision = "auto"
    allow_pickle: bool = False
    trust_remote_code: bool = False
    uri_column: str = "uri"
    bytes_column: str | None = None
    limits: VideoLimits = field(default=VideoLimits())
    allowed_locations: list[str] | None = None

    name = "video.embed"

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)
        for name in ("count", "model_batch_size"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{self.name}: {name} must be at least 1, got {getattr(self, name)}")

    def inputs(self) -> Columns:
        if self.frames_column is not None:
            return [self.frames_column]
        return [self.uri_column] if self.bytes_column is None else [self.uri_column, self.bytes_column]

    def outputs(self) -> Columns:
        return [self.column]

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the stage that takes frames, unless there are some, and the stage that runs the model."""
        frames_column, times_column = self.frames_column or f"_{self.column}_frames", f"_{self.column}_frame_times_s"
        discard = () if self.frames_column is not None else (frames_column, times_column)
        own = {"frames_column": frames_column, "discard": discard}
        embed = EmbedFrames(**{**self.values_for(EmbedFrames), **own})
        if self.frames_column is not None:
            return [embed]
        frames = SampleFrames(
            count=self.count,
            max_side=self.max_side,
            column=frames_column,
            times_column=times_column,
            uri_column=self.uri_column,
            bytes_column=self.bytes_column,
            limits=self.limits,
            allowed_locations=self.allowed_locations,
        )
        return [frames.with_(name=f"{type(self).name}.frames"), embed]
