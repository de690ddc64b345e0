"""Code in the style of NeMo Curator's public guides runs here with only its imports changed."""

from dataclasses import dataclass, field

import polars as pl
import pytest

from curator_core import (
    EmptyTask,
    LocalExecutor,
    Pipeline,
    ProcessingStage,
    Resources,
    TableBatch,
    Task,
    processing_stage,
)


@dataclass
class SentenceTask(Task[pl.DataFrame]):
    data: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def num_items(self) -> int:
        return len(self.data)


class TaskCreationStage(ProcessingStage[EmptyTask, SentenceTask]):
    name: str = "TaskCreationStage"

    def __init__(self, sentences: int, tasks: int):
        super().__init__()
        self.sentences = sentences
        self.tasks = tasks

    def inputs(self) -> tuple[list[str], list[str]]:
        return [], []

    def outputs(self) -> tuple[list[str], list[str]]:
        return ["data"], ["sentence"]

    def process(self, _: EmptyTask) -> list[SentenceTask]:
        frame = pl.DataFrame({"sentence": ["one two"] * self.sentences})
        return [SentenceTask(data=frame, task_id=n, dataset_name="Sentences") for n in range(self.tasks)]


class WordCountStage(ProcessingStage[SentenceTask, SentenceTask]):
    name: str = "WordCountStage"
    resources: Resources = Resources(cpus=1.0)

    def inputs(self) -> tuple[list[str], list[str]]:
        return ["data"], ["sentence"]

    def outputs(self) -> tuple[list[str], list[str]]:
        return ["data"], ["sentence", "word_count"]

    def process(self, task: SentenceTask) -> SentenceTask:
        words = task.data["sentence"].str.split(" ").list.len().alias("word_count")
        return SentenceTask(data=task.data.with_columns(words), task_id=task.task_id, dataset_name=task.dataset_name)


@dataclass
class ModelStage(ProcessingStage[SentenceTask, SentenceTask]):
    model_path: str
    name: str = "ModelStage"
    resources: Resources = field(default_factory=lambda: Resources(gpu_memory_gb=10))
    batch_size: int = 2

    def setup_on_node(self, _node_info=None, _worker_metadata=None) -> None:
        assert _worker_metadata is not None
        self.downloaded = True

    def setup(self, _worker_metadata=None) -> None:
        self.model = self.model_path.upper()

    def process_batch(self, tasks: list[SentenceTask]) -> list[SentenceTask]:
        return [task.with_data(task.data.with_columns(pl.lit(self.model).alias("label"))) for task in tasks]


def test_the_quickstart_pipeline_runs():
    pipeline = Pipeline(name="sentiment_analysis", description="Count words and label")
    pipeline.add_stage(TaskCreationStage(sentences=3, tasks=4))
    pipeline.add_stage(WordCountStage())
    pipeline.add_stage(ModelStage(model_path="path/to/model").with_(resources=Resources(gpus=0.25)))
    results = pipeline.run(LocalExecutor())
    assert len(results) == 4
    assert results[0].data.columns == ["sentence", "word_count", "label"]
    assert results[0].dataset_name == "Sentences"
    assert [task.task_id for task in results] == ["0", "1", "2", "3"]  # ids are the framework's
    assert results.stats["ModelStage"].rows_out == 12


def test_resources_and_batch_size_change_through_with_():
    stage = WordCountStage().with_(batch_size=128)
    assert (stage.batch_size, WordCountStage().batch_size, WordCountStage.batch_size) == (128, 1, 1)
    assert ModelStage(model_path="m").with_(resources=Resources(gpus=0.25)).resources == Resources(gpus=0.25)
    assert ModelStage(model_path="m").resources.gpu_memory_gb == 10


def test_decorated_functions_are_stages():
    @processing_stage(name="custom_filter", resources=Resources(cpus=1))
    def custom_filter_stage(task: TableBatch) -> TableBatch:
        return task.with_data(task.data.slice(0, 1))

    results = Pipeline(name="p").add_stage(custom_filter_stage).run(initial_tasks=[TableBatch(data={"a": [1, 2]})])
    assert results[0].num_rows == 1
    assert custom_filter_stage.name == "custom_filter"


def test_a_stage_without_a_name_has_its_class_name():
    class Unnamed(ProcessingStage[Task, Task]):
        def process(self, task):
            return task

    assert Unnamed().name == "Unnamed"


def test_a_pipeline_runs_again():
    pipeline = Pipeline("p", stages=[TaskCreationStage(1, 1)])
    assert len(pipeline.run()) == len(pipeline.run()) == 1


@pytest.mark.parametrize("executor", [None, LocalExecutor()])
def test_the_executor_is_optional(executor):
    assert len(Pipeline("p", stages=[TaskCreationStage(1, 2)]).run(executor)) == 2
