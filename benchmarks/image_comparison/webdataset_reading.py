"""Read a shard with the webdataset package, in its own environment: FILE ROUNDS; prints the best CPU seconds.

Samples come as it reads them, bytes by extension, nothing decoded.
"""

import json
import sys
import time

import webdataset


def main(path: str, rounds: str) -> None:
    best = float("inf")
    for _ in range(int(rounds)):
        start = time.process_time()
        count = sum(1 for _ in webdataset.WebDataset(path, shardshuffle=False))
        best = min(best, time.process_time() - start)
    print(json.dumps({"cpu_seconds": best, "samples": count}))


if __name__ == "__main__":
    main(*sys.argv[1:])
