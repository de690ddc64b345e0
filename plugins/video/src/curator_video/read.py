"""List video files and read their properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.sdk import (
    DEFAULT_BLOCK_BYTES,
    ROW_COLUMN,
    SOURCE_COLUMN,
    CompositeStage,
    ConfigError,
    EmptyTask,
    FolderReader,
)
from curator_video.batch import VideoBatch
from curator_video.clip import CLIP_COLUMNS
from curator_video.limits import VideoLimits
from curator_video.probe import VIDEO_COLUMNS, Probe
from curator_video.video_info import EXTENSIONS, Verify

if TYPE_CHECKING:
    from curator_core.sdk import Columns, ProcessingStage

__all__ = ["Read"]


@dataclass
class Read(CompositeStage[EmptyTask, VideoBatch]):
    """Make a row of every video file: ``uri``, ``key``, ``size_bytes``, ``width``, ``height``, ``fps``, ….

    Files stay where they are; later stages open them by their uri. ``start_s`` and ``end_s`` say which part of the file
    a row is: all of it, until a stage splits it. ``key`` is its path below the given folder, without its
    extension, and unique. A file that is not a video is quarantined.

    >>> [stage.name for stage in Read("talks").decompose()]
    ['video.read.files', 'video.read.rows', 'video.read']

    Args:
        paths: Local files, folders or globs. In folders, files with the extension of a common video format are taken.
        block_bytes: Bytes of files in a unit of work.
        limit_files: Read only this number of files, the first ones.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        extensions: Extensions looked for in folders, in place of the usual ones; files with others are counted.
        with_bytes: Also read the content, into the column ``bytes``, for stages that take ``bytes_column``.
        verify: How closely to look at a file: decode its first frame (``first_frame``), read all of it (``packets``:
            finds truncated files), or decode all of it (``frames``).
        limits: Limits on size and time.
    """

    paths: str | list[str]
    block_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)
    extensions: list[str] | None = field(default=None, kw_only=True)
    with_bytes: bool = field(default=False, kw_only=True)
    verify: Verify = field(default="first_frame", kw_only=True)
    limits: VideoLimits = field(default=VideoLimits(), kw_only=True)

    name = "video.read"

    def __post_init__(self) -> None:
        for path in [self.paths] if isinstance(self.paths, str) else self.paths:
            if "://" in path and not path.startswith("file://"):
                raise ConfigError(
                    f"{self.name}: {path!r} is not a local path",
                    fix="copy the videos to this machine, or mount them, and give the local path",
                )

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the stages that list the files, make rows of them, and look into them."""
        files, rows = _ReadFiles(**self.values_for(_ReadFiles)).with_(name=self.name).decompose()
        probe = Probe(bytes_column="bytes" if self.with_bytes else None, verify=self.verify, limits=self.limits)
        return [files, rows.with_(name=f"{self.name}.rows"), probe.with_(name=self.name)]

    def outputs(self) -> Columns:
        content = ["bytes"] if self.with_bytes else []
        return ["uri", "key", *content, "size_bytes", SOURCE_COLUMN, ROW_COLUMN, *VIDEO_COLUMNS, *CLIP_COLUMNS]


@dataclass
class _ReadFiles(FolderReader):
    """Make a row of every file."""

    usual_extensions: ClassVar[tuple[str, ...]] = EXTENSIONS
    batch_type = VideoBatch
