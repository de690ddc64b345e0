"""Ten of NeMo Curator's filters over a folder of JSON lines, on Ray Data, its fastest executor on few cores.

python -m text_peers.nemo_run IN OUT
"""

from __future__ import annotations

import sys

TEN = (
    "word_count",
    "non_alpha_numeric",
    "symbols_to_words",
    "numbers",
    "urls",
    "white_space",
    "parentheses",
    "mean_word_length",
    "boiler_plate_string",
    "repeated_lines",
)
"""Also curator's names of these filters; it uses the same thresholds."""


def main(source: str, target: str) -> None:
    from nemo_curator.backends.ray_data import RayDataExecutor  # type: ignore[import-not-found]
    from nemo_curator.pipeline import Pipeline  # type: ignore[import-not-found]
    from nemo_curator.stages.text.filters import ScoreFilter  # type: ignore[import-not-found]
    from nemo_curator.stages.text.io.reader import JsonlReader  # type: ignore[import-not-found]
    from nemo_curator.stages.text.io.writer import JsonlWriter  # type: ignore[import-not-found]

    from text_peers.nemo_filters import english_filters

    filters = english_filters()
    pipeline = Pipeline(name="ten-filters")
    pipeline.add_stage(JsonlReader(file_paths=source, files_per_partition=1))
    for name in TEN:
        pipeline.add_stage(ScoreFilter(filters[name]))
    pipeline.add_stage(JsonlWriter(path=target))
    pipeline.run(RayDataExecutor())


if __name__ == "__main__":
    main(*sys.argv[1:])
