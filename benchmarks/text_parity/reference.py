"""What peers decide about every document of a corpus, asked once and kept."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
from engine_comparison.environments import cache_folder, interpreter
from text_comparison.environments import PEERS
from text_comparison.program import BENCHMARKS, environment

if TYPE_CHECKING:
    from pathlib import Path

    from text_corpora.corpus import Corpus

_SEED = "0"  # of Python's hashes, which one of NeMo Curator's filters depends on


def decisions(peer: str, corpus: Corpus, mode: str) -> pl.DataFrame:
    """Return a peer's decisions about a corpus, in its order.

    Args:
        peer: ``datatrove`` or ``nemo``.
        corpus: The documents.
        mode: Last argument of the peer's program: how words are split, or which of its filters are asked.

    Raises:
        EnvironmentUnavailableError: The peer cannot be installed.
        subprocess.CalledProcessError: Its program fails.
    """
    path = cache_folder() / "reference" / f"{peer}_{mode}_{corpus.name}.parquet"
    if not path.exists() or not _is_of(path, corpus):
        print(f"asking {peer} ({mode}) about {corpus.documents} documents of {corpus.name}", file=sys.stderr)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        program = f"text_peers.{peer}_decisions"
        command = [interpreter(PEERS[peer]), "-m", program, str(corpus.path), str(partial), mode]
        subprocess.run(command, cwd=BENCHMARKS, env=environment(PYTHONHASHSEED=_SEED), check=True)
        partial.replace(path)
    return pl.read_parquet(path)


def _is_of(path: Path, corpus: Corpus) -> bool:
    """Return whether decisions are about the documents that the corpus has now."""
    if path.stat().st_mtime < corpus.path.stat().st_mtime:
        return False
    ids = pl.read_parquet(path, columns=["id"])["id"]
    return ids.equals(pl.read_parquet(corpus.path, columns=["id"])["id"])
