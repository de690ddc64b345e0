"""Pipelines as YAML files: read, check against the stages' own constructors, write back, describe to editors."""

from __future__ import annotations

from curator_core.config.dump import dump_pipeline
from curator_core.config.loaded import LoadedPipeline
from curator_core.config.loader import load_pipeline
from curator_core.config.params import build_stage, parameter_values

__all__ = ["LoadedPipeline", "build_stage", "dump_pipeline", "load_pipeline", "parameter_values"]
