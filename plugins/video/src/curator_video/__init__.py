"""Curate video: find out what files hold, cut them into clips, filter, sample, embed and write them.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

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

_HOME = {
    "DurationFilter": "duration_filter",
    "Embed": "embed",
    "ExtractAudio": "extract_audio",
    "MotionFilter": "motion_filter",
    "Read": "read",
    "SampleFrames": "sample_frames",
    "SplitFixed": "split_fixed",
    "SplitScenes": "split_scenes",
    "VideoBatch": "batch",
    "VideoLimits": "limits",
    "WriteClips": "write_clips",
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


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
