"""Keys that stay in memory between two steps, and what is found among them there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_dedup.held_keys import KeyRecords, hold_keys, holding_keys, taken_keys
from curator_dedup.kernels.partitioning import into_partitions
from curator_dedup.kernels.sorting import gather_sorted, tagged_keys
from curator_dedup.matching.clusters import components
from curator_dedup.matching.pairing import equal_pairs, pairs_with_a_key
from curator_dedup.matching.search_in_memory import pairs_in_memory


def _records(keys, marks, *, bits=2):
    documents = np.arange(len(keys), dtype=np.uint32)
    return KeyRecords(*into_partitions(np.array(keys, np.uint64), np.array(marks, np.uint64), documents, bits))


@given(st.lists(st.integers(0, 2**64 - 1)), st.integers(0, 6))
def test_partitions_are_a_stable_sort_by_the_highest_bits(keys, bits):
    keys = np.array(keys, np.uint64)
    documents = np.arange(len(keys), dtype=np.uint32)
    partition = np.array([int(key) >> (64 - bits) for key in keys], int)
    order = np.argsort(partition, kind="stable")
    sorted_keys, marks, sorted_documents, counts = into_partitions(keys, ~keys, documents, bits)
    assert sorted_keys.tolist() == keys[order].tolist()
    assert marks.tolist() == (~keys)[order].tolist()
    assert sorted_documents.tolist() == order.tolist()
    assert counts.tolist() == np.bincount(partition, minlength=2**bits).tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=60))
def test_equal_documents_get_the_same_clusters_sorted_or_not(hashes):
    keys = np.array([key << 62 | key for key, _ in hashes], np.uint64)
    marks = np.array([mark for _, mark in hashes], np.uint64)
    documents = np.arange(len(hashes))
    chained = pairs_with_a_key(keys, marks, documents, rule="equal")
    starred = equal_pairs(keys, marks, documents)
    found = [components(len(hashes), [(each[:, 0], each[:, 1])]).tolist() for each in (chained, starred)]
    assert found[0] == found[1] == [hashes.index(each) for each in hashes]


def test_batches_are_numbered_through_and_searched_by_any_number_of_threads():
    one, other = _records([1 << 63, 5, 7], [1, 2, 3]), _records([5, 1 << 63, 7], [2, 1, 4])
    for threads in (1, 3):
        pairs = pairs_in_memory([(0, one), (3, other)], rule="equal", max_distance=0, threads=threads)
        assert sorted(pairs.tolist()) == [[0, 4], [1, 3]]
    assert len(pairs_in_memory([], rule="equal", max_distance=0, threads=1)) == 0


def test_keys_are_held_while_all_of_them_fit():
    records = _records([1, 2], [3, 4])
    with holding_keys("cache", 2 * records.size_bytes):
        hold_keys("cache", "a", records)
        hold_keys("cache", "b", records)
        hold_keys("another cache", "c", records)
        assert taken_keys("cache", ["a", "b", "c"]) is None
        assert taken_keys("cache", ["b", "a"]) == [records, records]
        assert taken_keys("cache", ["a"]) is None  # once taken, they are gone
    assert taken_keys("cache", ["a"]) is None


@pytest.mark.parametrize("max_bytes", [0, 50])
def test_of_too_many_keys_none_are_held(max_bytes):
    records = _records([1, 2], [3, 4])
    with holding_keys("cache", max_bytes):
        for name in "abc":
            hold_keys("cache", name, records)
        assert taken_keys("cache", ["a"]) is None
        assert taken_keys("cache", ["c"]) is None


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5)), max_size=80), st.sampled_from([0, 58]))
def test_records_are_sorted_by_key_mark_and_place(records, shift):
    keys = np.array([key << shift for key, _ in records], np.uint64)  # alike in their upper bits, or in their lower
    marks = np.array([mark for _, mark in records], np.uint32)
    documents = np.arange(len(records))
    bits = max(1, len(records).bit_length())
    found = gather_sorted(np.sort(tagged_keys(keys, bits)), bits, keys, marks, documents)
    order = np.lexsort((documents, marks, keys))
    for values, expected in zip(found, (keys, marks, documents), strict=True):
        assert values.tolist() == expected[order].tolist()
