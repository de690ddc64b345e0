"""Fuzzy deduplication, from files to files."""

import json
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator_core import LocalExecutor, StreamingExecutor
from curator_core.values.errors import ConfigError, CuratorError
from curator_dedup import FuzzyDeduplicationWorkflow
from tests.support.known_duplicates import Documents, duplicates, ids_in, jaccard, make_texts

SMALL = {"num_bands": 20, "minhashes_per_band": 5}  # finds nearly all pairs over 0.8


def test_what_is_left_has_no_near_duplicates_and_nothing_else_is_gone(documents):
    result = FuzzyDeduplicationWorkflow(**documents.paths(), **SMALL).run()
    kept = ids_in(documents.paths()["output_path"])
    table = duplicates(result)
    assert [name for name in documents.texts if name in set(kept)] == kept  # the order of the input
    assert len(kept) == result.kept == len(documents.texts) - result.removed
    assert {row["id"] for row in table} == set(documents.texts) - set(kept)
    pairs = documents.near_pairs(0.8)
    left = [pair for pair in pairs if set(pair) <= set(kept)]
    assert len(pairs) > 40
    assert left == []
    partners = {name for pair in pairs for name in pair}
    for row in table:
        assert row["id"] in partners
        assert row["similarity"] >= 0.8
        assert row["kept_id"] in kept


def test_without_verification_candidates_are_duplicates(documents):
    loose = {"num_bands": 20, "minhashes_per_band": 2}
    verified = FuzzyDeduplicationWorkflow(**documents.paths("a"), **loose).run()
    unverified = FuzzyDeduplicationWorkflow(**documents.paths("b"), **loose, verify=False).run()
    assert unverified.removed > verified.removed
    assert all(row["similarity"] is None for row in duplicates(unverified))
    wrong = [
        row
        for row in duplicates(unverified)
        if jaccard(documents.texts[row["id"]], documents.texts[row["kept_id"]]) < 0.5
    ]
    assert wrong


@pytest.mark.parametrize(
    ("options", "best"),
    [
        ({"keep": "first"}, lambda texts, name: -list(texts).index(name)),
        ({"keep": "longest"}, lambda texts, name: (len(texts[name].encode()), -list(texts).index(name))),
        ({"keep": "best", "score_column": "score"}, lambda texts, name: (len(name), -list(texts).index(name))),
    ],
    ids=["first", "longest", "best"],
)
def test_the_rule_says_which_document_is_kept(documents, options, best):
    result = FuzzyDeduplicationWorkflow(**documents.paths(), **SMALL, **options, perform_removal=False).run()
    clusters = {}
    for row in duplicates(result):
        clusters.setdefault(row["kept_id"], [row["kept_id"]]).append(row["id"])
    assert clusters
    for kept, members in clusters.items():
        assert kept == max(members, key=lambda name: best(documents.texts, name))
    assert result.output_paths == []


def test_tagging_keeps_every_document(documents):
    result = FuzzyDeduplicationWorkflow(**documents.paths(), **SMALL, output_mode="tag").run()
    rows = [
        json.loads(line) for path in result.output_paths for line in Path(path).read_text(encoding="utf-8").splitlines()
    ]
    assert [row["id"] for row in rows] == list(documents.texts)
    assert {row["id"]: row["duplicate_of"] for row in rows if row.get("duplicate_of")} == {
        row["id"]: row["kept_id"] for row in duplicates(result)
    }
    by_kept = {}
    for row in rows:
        by_kept.setdefault(row.get("duplicate_of") or row["id"], []).append(row["duplicate_count"])
    assert all(set(counts) == {len(counts)} for counts in by_kept.values())


def test_words_columns_formats_and_ids_of_choice(tmp_path, documents):
    folder = tmp_path / "parquet"
    folder.mkdir()
    table = pa.table({"body": list(documents.texts.values()), "n": range(len(documents.texts))})
    pq.write_table(table, folder / "all.parquet", row_group_size=50)
    workflow = FuzzyDeduplicationWorkflow(
        str(folder), str(tmp_path / "c"), str(tmp_path / "o"), text_column="body", word_ngrams=3, **SMALL
    )
    result = workflow.run()
    assert result.removed > 30
    assert all(path.endswith(".parquet") for path in result.output_paths)
    left = pa.concat_tables([pq.read_table(path) for path in result.output_paths])
    assert left.column_names == ["body", "n"]
    assert len(left) == result.kept
    first = duplicates(result)[0]
    assert first["id"].startswith(str(folder / "all.parquet:"))


def test_nulls_and_empty_documents_are_nobodys_duplicates(tmp_path):
    texts = {"null": None, "null2": None, "empty": "", "empty2": "", "short": "abc", "short2": "abc", "spaces": "  "}
    documents = Documents(tmp_path, texts).write(files=2)
    result = FuzzyDeduplicationWorkflow(**documents.paths(), **SMALL).run()
    assert [row["id"] for row in duplicates(result)] == ["short2"]
    result = FuzzyDeduplicationWorkflow(**documents.paths("w"), word_ngrams=2, **SMALL).run()
    assert [row["id"] for row in duplicates(result)] == ["short2"]


def test_many_copies_of_one_document_are_no_problem(tmp_path):
    text = "the same sentence over and over again, which is long enough to have some shingles"
    documents = Documents(tmp_path, {f"{number}": text for number in range(20_000)}).write(files=4)
    result = FuzzyDeduplicationWorkflow(**documents.paths()).run()
    assert (result.removed, result.clusters, result.largest_cluster) == (19_999, 1, 20_000)
    assert ids_in(documents.paths()["output_path"]) == ["0"]
    assert result.steps["verify"]["candidates"] == 19_999  # and not one for every band


def test_a_corpus_is_compared_with_an_earlier_one_that_stays_as_it_is(tmp_path):
    texts = make_texts(120, seed=3)
    names = list(texts)
    old = Documents(tmp_path / "old", {name: texts[name] for name in names[::2]}).write()
    new = Documents(tmp_path / "new", {name: texts[name] for name in names[1::2]}).write()
    FuzzyDeduplicationWorkflow(**old.paths(), **SMALL, perform_removal=False).run()
    before = {path: path.read_bytes() for path in (old.root / "run").rglob("*.parquet")}
    result = FuzzyDeduplicationWorkflow(**new.paths(), **SMALL, compare_with=old.paths()["cache_path"]).run()
    assert {path: path.read_bytes() for path in (old.root / "run").rglob("*.parquet")} == before
    assert result.documents == len(new.texts)
    removed = {row["id"] for row in duplicates(result)}
    assert removed <= set(new.texts)
    assert any(row["kept_id"] in old.texts for row in duplicates(result))
    kept = ids_in(new.paths()["output_path"])
    everything = Documents(tmp_path, texts)
    assert [
        pair for pair in everything.near_pairs(0.8) if set(pair) <= {*kept, *old.texts} and set(pair) & set(kept)
    ] == []


def test_only_the_new_corpus_is_counted_when_its_documents_join_many_of_an_earlier_one(tmp_path):
    """Each new document is like three old ones, which are no business of the new corpus."""
    base = [" ".join(f"{topic}{word}" for word in range(60)) for topic in ("river", "engine", "forest")]
    old = Documents(tmp_path / "old", {f"old{n}": f"{base[n % 2]} end{n}" for n in range(6)}).write()
    new = Documents(tmp_path / "new", {"new0": f"{base[0]} last", "new1": f"{base[1]} last", "new2": base[2]}).write()
    FuzzyDeduplicationWorkflow(**old.paths(), **SMALL, perform_removal=False).run()
    workflow = FuzzyDeduplicationWorkflow(**new.paths(), **SMALL, compare_with=old.paths()["cache_path"])
    result = workflow.run()
    assert (result.documents, result.kept, result.removed) == (3, 1, 2)
    assert (result.clusters, result.largest_cluster) == (2, 2)
    assert ids_in(new.paths()["output_path"]) == ["new2"]
    assert "3 documents: 1 kept, 2 removed" in result.report()
    assert result.to_dict()["kept"] == 1
    overview = json.loads((Path(new.paths()["cache_path"]) / "overview.json").read_text())
    assert overview["cluster_sizes"] == {"2": 2}
    assert sum(overview["similarity"]["counts"]) == 2
    kept_there = {"old0", "old1"}  # the others were removed from the earlier corpus
    assert {row["id"]: row["kept_id"] in kept_there for row in duplicates(result)} == {"new0": True, "new1": True}


def test_the_document_kept_in_place_of_another_was_not_removed_from_the_earlier_corpus(tmp_path):
    texts = {"a": " ".join(f"word{n}" for n in range(80))}
    texts["b"] = texts["a"].replace("word3 ", "other3 ")
    texts["c"] = texts["b"].replace("word70 ", "other70 ").replace("word71 ", "other71 ")
    old = Documents(tmp_path / "old", {"a": texts["a"], "b": texts["b"]}).write()
    new = Documents(tmp_path / "new", {"c": texts["c"]}).write()
    first = FuzzyDeduplicationWorkflow(**old.paths(), **SMALL).run()
    assert [(row["id"], row["kept_id"]) for row in duplicates(first)] == [("b", "a")]
    result = FuzzyDeduplicationWorkflow(**new.paths(), **SMALL, compare_with=old.paths()["cache_path"]).run()
    assert [(row["id"], row["kept_id"]) for row in duplicates(result)] == [("c", "a")]


def test_an_index_with_other_parameters_is_refused(documents):
    FuzzyDeduplicationWorkflow(**documents.paths("a"), **SMALL).run()
    cache = documents.paths("a")["cache_path"]
    with pytest.raises(ConfigError, match=r"ngrams is 24 there and 10 here"):
        FuzzyDeduplicationWorkflow(**documents.paths("b"), **SMALL, char_ngrams=10, compare_with=cache).run()
    with pytest.raises(ConfigError, match="there is no index"):
        FuzzyDeduplicationWorkflow(**documents.paths("c"), **SMALL, compare_with=str(documents.root / "nowhere")).run()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text_column": "txet"}, "txet"),
        ({"id_column": "name"}, "name"),
        ({"threshold": 0}, "threshold"),
        ({"output_path": None}, "output_path"),
        ({"keep": "best"}, "score_column"),
        ({"num_bands": 0}, "bands"),
        ({"input_path": "no/such/folder"}, "no/such/folder"),
        ({"keep": "best", "score_column": "text"}, "scores are numbers"),
    ],
)
def test_bad_use_is_explained(documents, changes, message):
    with pytest.raises(CuratorError, match=message):
        FuzzyDeduplicationWorkflow(**{**documents.paths(), **changes}).run(LocalExecutor(on_error="raise"))


def test_a_file_that_is_named_twice_is_read_once(documents):
    paths = {**documents.paths(), "input_path": [str(documents.input), str(documents.input / "0.jsonl")]}
    assert FuzzyDeduplicationWorkflow(**paths, **SMALL, perform_removal=False).run().documents == len(documents.texts)


def test_bad_lines_are_quarantined_and_the_rest_is_deduplicated(documents):
    with (documents.input / "1.jsonl").open("a", encoding="utf-8") as file:
        file.write("{not json\n")
    result = FuzzyDeduplicationWorkflow(**documents.paths(), **SMALL).run()
    assert result.quarantined == 1
    assert result.documents == len(documents.texts)


def test_threads_and_keys_that_do_not_fit_in_memory_change_nothing(documents):
    options = {"num_bands": 200, "minhashes_per_band": 5, "perform_removal": False, "block_bytes": 20_000}
    expected = FuzzyDeduplicationWorkflow(**documents.paths("one"), **options).run()
    threads = FuzzyDeduplicationWorkflow(**documents.paths("two"), **options).run(LocalExecutor(threads=3))
    corpus_bytes = sum(path.stat().st_size for path in documents.input.iterdir())
    # The texts fit, by a hair; their keys, 201 times 16 bytes for each, do not.
    tight = FuzzyDeduplicationWorkflow(**documents.paths("tight"), **options, in_memory_bytes=corpus_bytes).run()
    assert _in_memory(threads) == _in_memory(expected) == {"number", "pairs", "verify", "decide"}
    assert _in_memory(tight) == {"number", "verify", "decide"}
    assert duplicates(threads) == duplicates(tight) == duplicates(expected)


def test_every_step_is_resumed(documents):
    workflow = FuzzyDeduplicationWorkflow(**documents.paths(), **SMALL)
    first = workflow.run()
    outputs = {path: Path(path).read_bytes() for path in first.output_paths}
    again = FuzzyDeduplicationWorkflow(**documents.paths(), **SMALL).run(resume=True)
    assert again.steps.skipped >= {"keys", "number", "pairs", "verify", "remove"}
    assert (again.removed, again.output_paths) == (first.removed, first.output_paths)
    assert {path: Path(path).read_bytes() for path in again.output_paths} == outputs


@pytest.mark.parametrize(
    ("step", "in_memory_bytes"),
    [
        *((step, 0) for step in ("keys", "pairs", "gather-0", "verify", "remove")),
        ("keys", 1 << 20),
        ("remove", 1 << 20),
    ],
)
def test_a_run_that_was_stopped_in_any_step_goes_on(documents, step, in_memory_bytes):
    @contextmanager
    def stop_at(name, state):
        if name == step:
            state.stop_requested.set()
        yield

    expected = FuzzyDeduplicationWorkflow(**documents.paths("whole"), **SMALL).run()
    options = {**SMALL, "block_bytes": 20_000, "in_memory_bytes": in_memory_bytes}
    with pytest.raises(KeyboardInterrupt):
        FuzzyDeduplicationWorkflow(**documents.paths(), **options).run(watch=stop_at)
    result = FuzzyDeduplicationWorkflow(**documents.paths(), **options).run(resume=True)
    assert duplicates(result) == duplicates(expected)
    assert len(ids_in(documents.paths()["output_path"])) == result.kept == expected.kept


def _in_memory(result):
    """Return the steps that were done without a pipeline."""
    return {name for name, value in result.steps.steps.items() if isinstance(value, dict)}


@pytest.mark.parametrize("output_mode", ["remove", "tag"])
def test_a_corpus_that_is_held_in_memory_gives_the_same_files(documents, output_mode):
    with (documents.input / "1.jsonl").open("a", encoding="utf-8") as file:
        file.write('{not json\n{"text": "one line without an id and with other columns", "id": "z", "more": [1]}\n')
    options = {**SMALL, "output_mode": output_mode, "block_bytes": 20_000}
    held = FuzzyDeduplicationWorkflow(**documents.paths("held"), **options).run()
    read = FuzzyDeduplicationWorkflow(**documents.paths("read"), **options, in_memory_bytes=0).run()
    assert {"pairs", "verify"} <= read.steps.steps.keys() - _in_memory(read)
    assert {"pairs", "verify"} <= _in_memory(held)
    assert duplicates(held) == duplicates(read)
    assert (held.quarantined, held.overview) == (read.quarantined, read.overview)
    contents = [[Path(path).read_bytes() for path in result.output_paths] for result in (held, read)]
    assert contents[0] == contents[1]
    assert [Path(path).name for path in held.output_paths] == [Path(path).name for path in read.output_paths]


@pytest.mark.slow
def test_on_ray_and_with_threads_the_same_comes_out(documents, ray_session):
    options = {**SMALL, "block_bytes": 30_000}
    results = {
        name: FuzzyDeduplicationWorkflow(**documents.paths(name), **options).run(executor)
        for name, executor in {
            "local": LocalExecutor(),
            "threads": LocalExecutor(threads=2),
            "streaming": StreamingExecutor(),
        }.items()
    }
    tables = [duplicates(result) for result in results.values()]
    assert tables[0] == tables[1] == tables[2]
    contents = [
        sorted((path.name, path.read_bytes()) for path in (documents.root / name / "out").glob("part-*"))
        for name in results
    ]
    assert contents[0] == contents[1] == contents[2]
