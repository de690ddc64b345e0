"""Observer hooks are called in every plugin; one that fails is reported once and disturbs nobody."""

import logging

import pytest

from curator_core.registry import Registry
from curator_core.values.errors import UnknownNameError

WATCHES = """
seen = []

@hookimpl
def curator_run_started(plan, run_dir):
    seen.append((plan, run_dir))
"""
FAILS = """
@hookimpl
def curator_run_started(plan):
    raise {error}
"""


@pytest.mark.parametrize("error", ["ValueError('oops')", "SystemExit(1)"])
def test_a_failing_observer_is_reported_once_and_the_others_are_called(site, caplog, error):
    import sys

    site.install("toya", FAILS.format(error=error))
    module = site.install("toyb", WATCHES)
    registry = Registry(allow=["toya", "toyb"])

    with caplog.at_level(logging.WARNING):
        registry.notify("curator_run_started", plan="plan", run_dir=None)
        registry.notify("curator_run_started", plan="plan", run_dir="there")

    assert sys.modules[module].seen == [("plan", None), ("plan", "there")]
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "'toya'" in record.getMessage()
    assert "curator_run_started" in record.getMessage()


@pytest.mark.parametrize("hook", ["curator_run_satrted", "curator_stages"])
def test_only_observer_hooks_can_be_notified(hook):
    with pytest.raises(UnknownNameError):
        Registry(candidates=[]).notify(hook)
