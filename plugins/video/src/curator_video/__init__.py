"""Curate video: read properties of files, cut them into clips, filter, sample, embed and write them.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.sdk import lazy_names

if TYPE_CHECKING:
    from curator_video.batch import VideoBatch
    from curator_video.duration_filter import DurationFilter
    from curator_video.embed import Embed
    from curator_video.extract_audio import ExtractAudio
    from curator_video.limits import VideoLimits
    from curator_video.motion_filter import MotionFilter
    from curator_video.read import Read
    from curator_video.sample_frames import SampleFrames
    from curator_video.split_fixed import SplitFixed
    from curator_video.split_scenes import SplitScenes
    from curator_video.write_clips import WriteClips

__version__ = "0.1.0"

_HOMES = {
    "batch": ("VideoBatch",),
    "duration_filter": ("DurationFilter",),
    "embed": ("Embed",),
    "extract_audio": ("ExtractAudio",),
    "limits": ("VideoLimits",),
    "motion_filter": ("MotionFilter",),
    "read": ("Read",),
    "sample_frames": ("SampleFrames",),
    "split_fixed": ("SplitFixed",),
    "split_scenes": ("SplitScenes",),
    "write_clips": ("WriteClips",),
}

__all__ = [
    "DurationFilter",
    "Embed",
    "ExtractAudio",
    "MotionFilter",
    "Read",
    "SampleFrames",
    "SplitFixed",
    "SplitScenes",
    "VideoBatch",
    "VideoLimits",
    "WriteClips",
]

__getattr__, __dir__, _ = lazy_names(__name__, _HOMES)
