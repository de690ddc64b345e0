import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import TableBatch
from curator_core.values.errors import ConfigError, StageError
from curator_table.stages.sample import Sample, hash_numbers, hash_text


def kept(stage, data):
    out = stage.process(TableBatch(data=data))
    return set() if out is None else set(out.data["_row"].to_pylist())


def rows(source, count):
    return {"_source": [source] * count, "_row": list(range(count))}


@pytest.mark.parametrize("fraction", [0.0, 0.01, 0.1, 0.5, 0.9, 1.0])
def test_the_fraction_is_kept(fraction):
    count = len(kept(Sample(fraction), rows("a.jsonl", 20_000)))
    assert abs(count - fraction * 20_000) <= 5 * (20_000 * fraction * (1 - fraction)) ** 0.5


def test_a_larger_sample_holds_the_smaller_one_and_another_seed_is_independent():
    data = rows("a.jsonl", 10_000)
    small, large = kept(Sample(0.1), data), kept(Sample(0.3), data)
    assert small < large
    other = kept(Sample(0.1, seed=1), data)
    assert abs(len(small & other) - 100) < 50


def test_files_are_sampled_independently():
    one, other = kept(Sample(0.1), rows("a.jsonl", 10_000)), kept(Sample(0.1), rows("b.jsonl", 10_000))
    assert abs(len(one & other) - 100) < 50


def test_the_choice_is_the_same_in_every_version_and_process():
    assert hash_text("a.jsonl", 0) == 16054938072338939378
    assert hash_numbers(pl.Series([0]), 0).to_list() == [0xE220A8397B1DCDAF]  # SplitMix64's first number for seed 0
    code = (
        "from curator_core import TableBatch\nfrom curator_table.stages.sample import Sample\n"
        "batch = TableBatch(data={'id': ['a', 'b', 'c', 'd', 'e', 'f']})\n"
        "print(Sample(0.5, id_column='id').process(batch).data['id'].to_pylist())"
    )
    printed = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    here = Sample(0.5, id_column="id").process(TableBatch(data={"id": list("abcdef")})).data["id"].to_pylist()
    assert printed == {f"{here}\n"}


@given(st.lists(st.integers(-(2**63), 2**63 - 1)), st.integers())
def test_numbers_are_scattered_as_splitmix64_says(numbers, seed):
    mask = 2**64 - 1

    def reference(number):
        mixed = (number + (seed + 1) * 0x9E3779B97F4A7C15) & mask
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        return mixed ^ (mixed >> 31)

    assert hash_numbers(pl.Series(numbers, dtype=pl.Int64), seed).to_list() == [reference(each) for each in numbers]


@given(st.lists(st.one_of(st.none(), st.text()), min_size=1), st.integers(), st.data())
def test_a_row_is_chosen_by_its_id_alone(ids, seed, data):
    stage = Sample(0.5, seed=seed, id_column="id")
    cut = data.draw(st.integers(0, len(ids)))

    def chosen(values):
        out = (
            stage.process(TableBatch(data=pl.DataFrame({"id": pl.Series(values, dtype=pl.String)}))) if values else None
        )
        return out.data["id"].to_pylist() if out else []

    assert chosen(ids) == chosen(ids[:cut]) + chosen(ids[cut:])
    assert None not in chosen(ids)


def test_numbers_and_dictionary_encoded_text_are_ids_too():
    import pyarrow as pa

    text = pa.array([str(number) for number in range(100)])
    plain = Sample(0.5, id_column="id").process(TableBatch(data={"id": text})).data["id"].to_pylist()
    encoded = TableBatch(data={"id": text.dictionary_encode()})
    coded = Sample(0.5, id_column="id").process(encoded).data["id"].to_pylist()
    assert plain == coded
    assert Sample(1.0, id_column="id").process(TableBatch(data={"id": pa.array([2**63], pa.uint64())})).num_rows == 1


def test_an_id_of_another_type_is_refused():
    with pytest.raises(StageError, match="not text or whole numbers"):
        Sample(0.5, id_column="id").process(TableBatch(data={"id": [0.5]}))


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan")])
def test_only_fractions_are_accepted(fraction):
    with pytest.raises(ConfigError, match="fraction must be between 0 and 1"):
        Sample(fraction)
