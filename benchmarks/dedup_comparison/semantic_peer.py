"""Semantic deduplication as one would write it with scikit-learn and numpy: a program for its own environment.

Usage: python semantic_peer.py VECTORS CLUSTERS EPS. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from sklearn.cluster import MiniBatchKMeans


def main() -> None:
    vectors, clusters, eps = np.load(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    started = time.perf_counter()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    labels = MiniBatchKMeans(clusters, batch_size=4096, n_init=1, random_state=0).fit_predict(unit)
    removed = 0
    for cluster in range(clusters):
        members = unit[labels == cluster]
        removed += int((np.triu(members @ members.T, 1) >= 1 - eps).any(axis=0).sum())
    print(json.dumps({"seconds": time.perf_counter() - started, "removed": removed}))


if __name__ == "__main__":
    main()
