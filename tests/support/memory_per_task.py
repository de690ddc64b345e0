"""Memory that a run takes for each task, measured as the difference between a run with few tasks and one with many."""

import gc
import logging
import tracemalloc

import pytest

FEW, MANY = 1_500, 4_500  # more than what a result keeps as it is
TRIES = 3


def check_memory(run, *, left, peak=float("inf")):
    """Check the bytes that ``run(count)`` leaves behind, and those that it takes at its peak, for each further task.

    Other threads of this process allocate memory too, so one good try of several is enough.
    """
    run(FEW)  # whatever is imported at the first use, and kept in caches and pools from then on
    logging.disable(logging.DEBUG)  # pytest keeps what the threads of an earlier Ray Data run have to say
    tracemalloc.start()
    found = []
    try:
        for _ in range(TRIES):
            (few_left, few_peak), (many_left, many_peak) = _measure(run, FEW), _measure(run, MANY)
            found.append(((many_left - few_left) / (MANY - FEW), (many_peak - few_peak) / (MANY - FEW)))
            if found[-1][0] < left and found[-1][1] < peak:
                return
    finally:
        tracemalloc.stop()
        logging.disable(logging.NOTSET)
    pytest.fail(f"{found} bytes a task were left and taken at the peak; less than {left} and {peak} are allowed")


def _measure(run, count):
    """Return the bytes that a run leaves behind, and those of its peak."""
    gc.collect()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    left = run(count)
    _, peak = tracemalloc.get_traced_memory()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    del left
    return after - before, peak - before
