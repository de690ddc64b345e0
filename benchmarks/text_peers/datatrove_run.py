"""datatrove's four quality filters over a folder of JSON lines, with its local executor and two workers.

python -m text_peers.datatrove_run IN OUT whitespace|spacy
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

WORKERS = 2


def main(source: str, target: str, words: str) -> None:
    from datatrove.executor import LocalPipelineExecutor  # type: ignore[import-not-found]
    from datatrove.pipeline.readers import JsonlReader  # type: ignore[import-not-found]
    from datatrove.pipeline.writers import JsonlWriter  # type: ignore[import-not-found]

    from text_peers.datatrove_filters import new_filters, use_words

    use_words(words)
    files = len(list(Path(source).glob("*.jsonl")))
    with tempfile.TemporaryDirectory() as logs:
        LocalPipelineExecutor(
            [JsonlReader(source), *new_filters().values(), JsonlWriter(target, compression=None)],
            tasks=files,
            workers=WORKERS,
            logging_dir=logs,
            start_method="fork",  # workers keep the way of splitting words that was chosen here
        ).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
