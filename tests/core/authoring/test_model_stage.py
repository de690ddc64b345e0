"""ModelStage: one load a worker, batches of rows, rows that the model fails on, the device and the threads."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, Resources, TableBatch
from curator_core.authoring.models.model_stage import batches_by_length
from curator_core.sdk import ConfigError, DataError, ModelStage, StageError


@dataclass
class Lengths(ModelStage):
    """Add the length of each text, noting what the model was shown."""

    text_column: str = "text"
    name = "acme.lengths"
    uses_torch = False
    seen: ClassVar[list] = []

    def inputs(self):
        return [self.text_column]

    def outputs(self):
        return ["length"]

    def load(self, device):
        self.seen.clear()
        self.seen.append(device)
        return len

    def predict(self, model, rows):
        texts = rows[self.text_column].to_pylist()
        self.seen.append(texts)
        if "bad" in texts:
            raise ValueError("no words")
        return pa.array(list(map(model, texts)), pa.int64())


def texts(*values):
    names = [f"{number}.jsonl" for number in range(len(values))]
    return TableBatch(data={"text": pa.array(values, pa.string()), "_source": names, "_row": [7] * len(values)})


def run(stage, *batches):
    return Pipeline("p", stages=[stage]).run(LocalExecutor(), initial_tasks=list(batches))


def test_rows_are_shown_in_batches_of_one_task_and_the_model_is_loaded_once():
    result = run(Lengths().with_(model_batch_size=2), texts("a", None, "bb", "ccc"), texts("dddd"))
    assert [task.data["length"].to_pylist() for task in result] == [[1, None, 2, 3], [4]]
    assert Lengths.seen == ["cpu", ["a", "bb"], ["ccc"], ["dddd"]]


def test_tasks_share_batches_where_asked():
    run(Lengths().with_(model_batch_size=3, batch_size=2), texts("a", "bb"), texts("ccc", "dddd"))
    assert Lengths.seen == ["cpu", ["a", "bb", "ccc"], ["dddd"]]


def test_rows_that_the_model_fails_on_are_quarantined_and_their_neighbours_come_out():
    result = run(Lengths(), texts("a", "bad", "bb", "ccc", "bad"))
    assert result[0].data["length"].to_pylist() == [1, 2, 3]
    found = [(record.source, record.row, record.error_type) for record in result.quarantined]
    assert found == [("1.jsonl", 7, "ValueError"), ("4.jsonl", 7, "ValueError")]
    assert "ValueError: no words (line " in result.quarantined[0].message


def test_a_model_that_fails_on_all_is_to_blame_itself():
    stage = Lengths()
    stage.setup(None)
    with pytest.raises(ValueError, match="no words"):
        stage.process(texts("bad", "bad"))


def test_tasks_without_rows_and_without_values():
    stage = Lengths()
    stage.setup(None)
    assert stage.process(texts()).data["length"].to_pylist() == []
    assert stage.process(texts(None, None)).data["length"].to_pylist() == [None, None]


@dataclass
class Prepared(Lengths):
    """Shows the model numbers made of texts, a few at a time; the longest first if asked."""

    sorts: bool = False
    name = "acme.prepared"
    unreadable: ClassVar[str] = "UnreadableText"

    def prepare(self, model, batch):
        for text in batch.text("text").to_list():
            self.seen.append(f"prepare {text}")
            yield DataError("torn") if text == "torn" else text

    def output_types(self, model):
        return {"length": pa.int16()}

    def predict(self, model, rows):
        self.seen.append(rows)
        return {"length": [model(row) for row in rows]}


class Sorted(Prepared):
    name = "acme.sorted"

    def lengths(self, rows):
        return [len(row) for row in rows]

    def batch_limit(self, longest):
        return 4 // longest


def test_prepared_rows_are_held_a_batch_at_a_time():
    result = run(Prepared().with_(model_batch_size=2), texts("a", None, "bb", "torn", "ccc"))
    assert result[0].data["length"].to_pylist() == [1, None, 2, 3]
    shown = ["prepare a", "prepare None", "prepare bb", ["a", "bb"], "prepare torn", "prepare ccc", ["ccc"]]
    assert Prepared.seen == ["cpu", *shown]
    assert [(each.source, each.error_type) for each in result.quarantined] == [("3.jsonl", "UnreadableText")]


def test_the_longest_rows_come_first_and_results_in_row_order():
    result = run(Sorted(), texts("a", "bb", None, "dddd", "c", "eeeee"))
    assert result[0].data["length"].to_pylist() == [1, 2, None, 4, 1, 5]
    assert [each for each in Sorted.seen if isinstance(each, list)] == [["eeeee"], ["dddd"], ["bb", "a"], ["c"]]


def test_types_are_those_that_the_stage_declares():
    stage = Prepared()
    stage.setup(None)
    for batch in (texts(None), texts("a"), texts()):
        assert stage.process(batch).data.schema.field("length").type == pa.int16()


@given(lengths=st.lists(st.integers(1, 30), max_size=40), rows=st.integers(1, 10), tokens=st.integers(1, 100))
def test_batches_by_length_hold_every_row_once_and_keep_to_the_limit(lengths, rows, tokens):
    lengths = np.array(lengths, dtype=np.int64)
    batches = list(batches_by_length(lengths, lambda longest: min(rows, tokens // longest)))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= rows
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= tokens


class Scores(Lengths):
    """Returns whatever a test wants."""

    answer: ClassVar = None

    def predict(self, model, rows):
        return self.answer(rows)


@pytest.mark.parametrize(
    ("answer", "values"),
    [
        (lambda rows: np.ones((len(rows), 2), np.float32), [[1, 1], [1, 1]]),
        (lambda rows: pl.Series([1, 2]), [1, 2]),
        (lambda rows: ["a", None], ["a", None]),
        (lambda rows: {"length": (1.5, 2.5)}, [1.5, 2.5]),
        (lambda rows: pa.chunked_array([[1], [2]]), [1, 2]),
    ],
)
def test_columns_may_be_of_any_library(answer, values, monkeypatch):
    monkeypatch.setattr(Scores, "answer", staticmethod(answer))
    stage = Scores()
    stage.setup(None)
    assert stage.process(texts("a", "b")).data["length"].to_pylist() == values


def test_columns_of_another_length_are_the_fault_of_the_stage(monkeypatch):
    monkeypatch.setattr(Scores, "answer", staticmethod(lambda rows: [1]))
    stage = Scores()
    stage.setup(None)
    with pytest.raises(StageError, match="predict returned 1 values of 'length' for 2 rows"):
        stage.process(texts("a", "b"))


def test_a_model_of_torch_runs_with_the_threads_of_the_worker_and_without_gradients():
    torch = pytest.importorskip("torch")

    class Linear(ModelStage):
        def inputs(self):
            return ["x"]

        def outputs(self):
            return ["y"]

        def load(self, device):
            return torch.nn.Linear(1, 3)

        def predict(self, model, rows):
            assert torch.is_inference_mode_enabled()
            assert not model.training
            if len(rows) > 2:
                raise torch.OutOfMemoryError
            return model(torch.tensor(rows["x"].to_numpy(), dtype=torch.float32, device=self.model_device)[:, None])

    before = torch.get_num_threads()
    stage = Linear().with_(device="cpu", resources=Resources(cpus=3))
    stage.setup(None)
    assert torch.get_num_threads() == 3
    column = stage.process(TableBatch(data={"x": [1.0, 2.0, 3.0, 4.0, 5.0]})).data["y"]
    assert column.type == pa.list_(pa.float32(), 3)
    assert len(column) == 5
    stage.teardown()
    stage.teardown()
    assert torch.get_num_threads() == before


def test_weights_are_looked_for_before_the_run_and_found_by_load(tmp_path):
    @dataclass
    class Weighted(Lengths):
        model: str = ""

        def weights(self):
            return self.model

        def load(self, device):
            return json.loads((self.weights_folder() / "config.json").read_text()).get

    (tmp_path / "config.json").write_text('{"a": 1}')
    stage = Weighted(model=str(tmp_path))
    stage.setup(None)
    assert stage.process(texts("a")).data["length"].to_pylist() == [1]
    with pytest.raises(ConfigError, match="there is no model"):
        Weighted(model=str(tmp_path / "nothing")).preflight()


def test_impossible_batches_are_refused():
    with pytest.raises(ConfigError, match="model_batch_size must be at least 1, got 0"):
        Lengths().with_(model_batch_size=0).setup(None)
