"""From pairs to decisions: plain functions, for any graph."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_dedup.fuzzy.verification import plan_verification
from curator_dedup.kernels.edges import candidate_edges, linked_edges, repeated
from curator_dedup.matching.clusters import components, make_clusters
from curator_dedup.numbering import places_of
from curator_dedup.semantic.decide import clusters_of_partners

GRAPHS = st.integers(1, 30).flatmap(
    lambda count: st.tuples(
        st.just(count), st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=40)
    )
)


def as_arrays(pairs):
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def components_oracle(count, pairs):
    label = list(range(count))
    changed = True
    while changed:
        changed = False
        for one, other in pairs:
            least = min(label[one], label[other])
            changed |= label[one] != least or label[other] != least
            label[one] = label[other] = least
    return label


@given(GRAPHS)
def test_components(graph):
    count, pairs = graph
    assert components(count, [as_arrays(pairs[:7]), as_arrays(pairs[7:])]).tolist() == components_oracle(count, pairs)


@given(GRAPHS, st.lists(st.integers(0, 3), min_size=30, max_size=30), st.integers(0, 10))
def test_exactly_one_of_every_cluster_is_kept(graph, wishes, fixed):
    count, pairs = graph
    roots = components(count, [as_arrays(pairs)])
    is_fixed = np.arange(count) < fixed
    clusters = make_clusters(roots, np.array(wishes[:count]), is_fixed=is_fixed)
    for root in np.unique(roots):
        members = np.flatnonzero(roots == root)
        if len(members) == 1:
            assert root not in clusters.members
            continue
        best = max(members, key=lambda each: (is_fixed[each], wishes[each], -each))
        found = [each for each in members if each == best or not is_fixed[each]]
        places = np.searchsorted(clusters.members, found)
        assert clusters.members[places].tolist() == found
        assert set(clusters.sizes[places]) == {len(found)}
        assert set(clusters.kept[places]) == {best}
        assert not (set(members) - set(found)) & set(clusters.members)


def test_a_missing_score_is_the_worst():
    clusters = make_clusters(np.array([0, 0, 0]), np.array([np.nan, 1.0, 0.5]))
    assert clusters.kept.tolist() == [1, 1, 1]


KEYS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=60)


def sorted_keys(rows):
    order = sorted((key, mark, document) for document, (key, mark) in enumerate(rows))
    key, mark, document = zip(*order, strict=True) if order else ((), (), ())
    return np.array(key, np.uint64), np.array(mark, np.uint32), np.array(document, np.int64)


@given(KEYS)
def test_small_buckets_are_paired_completely(rows):
    key, mark, document = sorted_keys(rows)
    pairs = {tuple(pair) for pair in candidate_edges(key, mark, document).tolist()}
    roots = components(len(rows), [as_arrays(sorted(pairs))])
    for one in range(len(rows)):
        for other in range(one):
            if rows[one][0] == rows[other][0] and rows[one][1] != rows[other][1]:
                assert roots[one] == roots[other] or is_represented(rows, pairs, one, other)
    assert all(rows[one][0] == rows[other][0] and one < other for one, other in pairs)


def is_represented(rows, pairs, one, other):
    """Another document with the same key and mark stands for each."""
    alike = [[index for index, row in enumerate(rows) if row == rows[each]] for each in (one, other)]
    return any((min(a, b), max(a, b)) in pairs for a in alike[0] for b in alike[1])


def test_a_bucket_of_any_size_gives_a_number_of_pairs_in_proportion():
    count = 50_000
    document = np.arange(count)
    same = np.zeros(count, np.uint64)
    pairs = candidate_edges(same, np.arange(count, dtype=np.uint32), document)
    assert len(pairs) < 8 * count
    assert len(np.unique(components(count, [(pairs[:, 0], pairs[:, 1])]))) == 1
    assert len(candidate_edges(same, np.zeros(count, np.uint32), document)) == count - 1


@given(KEYS)
def test_links_join_what_is_the_same(rows):
    pairs = linked_edges(*sorted_keys(rows))
    roots = components(len(rows), [as_arrays(pairs.tolist())])
    for one in range(len(rows)):
        for other in range(len(rows)):
            assert (roots[one] == roots[other]) == (rows[one] == rows[other])


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 20), max_size=200))
def test_no_repeated_key_is_missed(keys):
    array = np.array(keys, np.uint64)
    marked = repeated(array)
    values, counts = np.unique(array, return_counts=True)
    assert marked[np.isin(array, values[counts > 1])].all()


def test_few_keys_are_sorted_for_nothing():
    keys = np.random.default_rng(1).integers(0, 2**64, 100_000, dtype=np.uint64)
    assert repeated(keys).mean() < 0.15


@given(GRAPHS, st.integers(1, 200))
def test_verification_looks_at_every_pair_once_in_parts_that_fit(graph, part_bytes):
    count, pairs = graph
    pairs = sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})
    sizes = np.arange(1, count + 1)
    first, second = as_arrays(pairs)
    plan = plan_verification(first, second, components(count, [(first, second)]), sizes, part_bytes=part_bytes)
    assert sorted(zip(plan.first.tolist(), plan.second.tolist(), strict=True)) == pairs
    needed = set(zip(plan.documents.tolist(), plan.document_part.tolist(), strict=True))
    for part in range(plan.parts):
        here = plan.pair_part == part
        assert here.any()
        documents = set(plan.first[here]) | set(plan.second[here])
        assert documents == {document for document, place in needed if place == part}
        # One pair may reach over the end of a part.
        assert sum(sizes[list(documents)]) <= part_bytes + 3 * sizes.max()


@given(st.lists(st.integers(0, 9), max_size=12), st.lists(st.integers(0, 9), max_size=12))
def test_places(chosen, numbers):
    chosen = sorted(chosen)
    places, found = places_of(np.array(chosen, np.int64), np.array(numbers, np.int64))
    expected = [(place, at) for place, number in enumerate(numbers) for at, each in enumerate(chosen) if each == number]
    assert list(zip(places.tolist(), found.tolist(), strict=True)) == expected


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(0, 19)), max_size=30))
def test_who_has_a_partner_goes_and_the_end_of_the_chain_stays(links):
    links = [(document, partner % document) for document, partner in links]  # partners come before
    document, partner = as_arrays(links)
    clusters, _ = clusters_of_partners(document, partner, np.ones(len(links)))
    assert set(clusters.removed) == set(document.tolist())
    assert not set(clusters.kept) & set(document.tolist())


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_compare(count):
    empty = np.empty(0, np.int64)
    assert make_clusters(components(count, [(empty, empty)])).members.tolist() == []
    assert plan_verification(empty, empty, np.arange(count), np.ones(count, np.int64), part_bytes=1).parts == 0


def test_candidates_of_little_text_are_cut_so_that_workers_can_share_them():
    first = np.arange(1_000, dtype=np.int64)
    second = first + 1_000
    sizes = np.full(2_000, 100_000)
    plan = plan_verification(first, second, np.arange(2_000) % 1_000, sizes, part_bytes=256 << 20)
    assert 8 <= plan.parts <= 9
