"""An unbalanced pipeline: clips are decoded on CPUs, a vision model on a logical GPU is the bottleneck.

There need be no GPU: the engine only counts it, and the model computes on the CPU. What is measured is whether the
engine keeps the worker of the dear stage busy, not how fast a GPU is. The weights are random; the work is real.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from curator_core import Pipeline, Resources, StreamingExecutor
from curator_video import Embed, Read

if TYPE_CHECKING:
    from pathlib import Path


def make_model(folder: Path) -> Path:
    """Write a vision transformer (6 layers of 384, pictures of 224) that no one has trained."""
    import torch
    from transformers import ViTConfig, ViTImageProcessorPil, ViTModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(0)
    config = ViTConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=6, intermediate_size=1536, image_size=224
    )
    ViTModel(config).save_pretrained(folder)
    ViTImageProcessorPil(size={"height": 224, "width": 224}).save_pretrained(folder)
    return folder


def busy(clips: list[Path], folder: Path, copies: int) -> dict[str, Any]:
    """Embed many clips with one logical GPU; return how busy its worker was after the warm-up."""
    source = folder / "many"
    source.mkdir()
    for number in range(copies):
        for clip in clips:
            shutil.copy(clip, source / f"{number:03}-{clip.name}")
    model = make_model(folder / "model")
    stages = [
        Read(str(source), block_bytes=1),
        Embed(str(model), count=4, max_side=256).with_(resources=Resources(cpus=1, gpus=1)),
    ]
    result = Pipeline("busy", stages=stages).run(StreamingExecutor(cpus=2, gpus=1))
    stats = result.stats["video.embed"]
    others_s = sum(each.process_time_s for name, each in result.stats.items() if name != "video.embed")
    return {
        "clips": sum(batch.num_rows for batch in result),
        "quarantined": len(result.quarantined),
        "wall_s": round(result.wall_s, 2),
        "gpu_stage_s": round(stats.process_time_s, 2),
        "other_stages_s": round(others_s, 2),
        "gpu_stage_setup_s": round(stats.setup_time_s, 2),
        "busy_fraction": round(stats.busy_fraction or 0.0, 4),
    }
