"""The names that others build on."""

import curator_core

EXPECTED = {
    "ActorPoolExecutor",
    "CompositeStage",
    "CuratorError",
    "EmptyTask",
    "Executor",
    "FileGroupTask",
    "Filter",
    "LocalExecutor",
    "Pipeline",
    "Plan",
    "ProcessingStage",
    "RayDataExecutor",
    "Resources",
    "RunResult",
    "StreamingExecutor",
    "TableBatch",
    "Task",
    "Verdict",
    "Workflow",
    "WorkflowStep",
    "make_stage",
    "processing_stage",
    "retry_quarantined",
}


def test_the_public_names_are_these_and_all_load():
    assert set(curator_core.__all__) == EXPECTED
    for name in EXPECTED:
        assert getattr(curator_core, name) is not None
    assert set(dir(curator_core)) >= EXPECTED


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(curator_core, "Pipelines")
