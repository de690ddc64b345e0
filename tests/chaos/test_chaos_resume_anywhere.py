"""A run that is interrupted again and again, and resumed on another executor each time, ends as one that never was."""

import itertools
import math
import random
import sys
from collections import Counter

import pytest

from curator_core import ActorPoolExecutor, LocalExecutor, RayDataExecutor, StreamingExecutor
from curator_core.files.faults import hooked
from curator_core.run.ledger import run_ledger
from curator_core.run.ledger.ledger_file import read_ledger
from curator_core.run.run import run_plan
from curator_core.run.state import RunState
from curator_core.values.errors import CuratorError

pytestmark = pytest.mark.usefixtures("ray_session")

# With the number of workers that each stage may have, where the executor decides it.
EXECUTORS = {
    "local": (LocalExecutor, None),
    "threads": (lambda: LocalExecutor(threads=2), None),
    "streaming, 1 worker": (StreamingExecutor, 1),
    "streaming, 2 workers": (StreamingExecutor, 2),
    "actor_pool": (lambda: ActorPoolExecutor(actors_per_stage=1), None),
    "ray_data": (lambda: RayDataExecutor(actors_per_stage=1), None),
}
# Those that have few tasks in hand, so that much is left to do after they have finished them.
HAVE_LITTLE_IN_HAND = {"local"}
# The ledger stays as it is at that moment, as if the driver had been killed; or the tasks in hand are finished.
KINDS = {"full disk": "ledger.begin", "torn line": "ledger.half_written", "stop": "ledger.synced"}


@pytest.fixture(autouse=True)
def one_commit_for_each_source(monkeypatch):
    """After a slow sync the ledger would write the sources of a while together, and hops would find nothing to do."""
    monkeypatch.setattr(run_ledger, "_SYNC_FRACTION", math.inf)


class Interruption:
    """Ends a run when it comes to a commit for the n-th time."""

    def __init__(self, kind, commit, state):
        self.kind = kind
        self.commits_left = commit
        self.state = state
        self.has_come = False

    def __call__(self, name):
        if name != KINDS[self.kind]:
            return
        self.commits_left -= 1
        if self.commits_left > 0:
            return
        self.has_come = True
        if self.kind == "stop":
            self.state.stop_requested.set()
        else:
            raise OSError(28, "No space left on device")


def go_on(world, name, kind, commit):
    """Resume the run until the interruption comes; return the result, or None where it did come."""
    make, workers = EXECUTORS[name]
    state = RunState(world.run_dir)
    interruption = Interruption(kind, commit, state)
    with hooked(interruption):
        try:
            result = run_plan(world.pipeline(workers=workers).build(), make(), state=state, resume=True)
        except CuratorError:
            if not interruption.has_come:
                raise
            return None
    return None if result.interrupted else result


def counted(result):
    names = ("tasks_in", "tasks_out", "rows_in", "rows_out", "bytes_out", "quarantined", "dropped", "failed", "scores")
    return [[stage["name"], *(stage[name] for name in names)] for stage in result.to_dict()["stages"]]


def check_hops(world, hops, figures, files_of):
    """Interrupt a run at every hop; compare all that it leaves with a run that nobody disturbs; return the hops."""
    expected = world.run(output=str(world.root / "reference"), run_dir=world.root / "reference-run")
    sources = len(read_ledger(world.root / "reference-run" / "ledger.jsonl").done)
    taken = Counter()
    done_before = 0
    for name, kind, commit in hops:
        taken[name] += 1
        result = go_on(world, name, kind, commit)
        content = read_ledger(world.run_dir / "ledger.jsonl")
        has_gone_on = len(content.done) > done_before or done_before == sources
        assert has_gone_on or commit == 1, f"{name}: nothing was done before the {kind}"
        done_before = len(content.done)
        if result is not None:
            break
        figures.faults += 1
        figures.resumes += 1
        visible = {path: data for path, data in files_of(world.root / "out").items() if not path.startswith(".")}
        assert visible.items() <= files_of(world.root / "reference").items()
    figures.compare(files_of(world.root / "out"), files_of(world.root / "reference"))
    assert counted(result) == counted(expected)
    kept = [files_of(world.root / run / "dropped") for run in ("run", "reference-run")]
    assert kept[0] == kept[1]
    ids = [[record.record_id for record in each.quarantined] for each in (result, expected)]
    assert ids[0] == ids[1]
    assert len(ids[0]) == 1
    assert len({task.task_id for task in result}) == len(result) == len(expected)
    assert world.run(resume=True).was_finished
    return taken


def in_turn(*, commit):
    """Every executor in turn; the kinds shift by one at each turn, so that all meet each other."""
    for turn in itertools.count():
        for number, name in enumerate(EXECUTORS):
            kinds = list(KINDS) if name in HAVE_LITTLE_IN_HAND else [kind for kind in KINDS if kind != "stop"]
            yield name, kinds[(turn + number) % len(kinds)], commit


def test_a_run_is_interrupted_once_on_every_executor(make_world, figures, files_of):
    world = make_world(files=12)
    # Those that have much in hand are interrupted for good, so that the next has something to do.
    kinds = {"local": "stop", "threads": "torn line", "actor_pool": "torn line"}
    hops = [(name, kinds.get(name, "full disk"), 3) for name in EXECUTORS]
    taken = check_hops(world, [*hops, ("local", "stop", sys.maxsize)], figures, files_of)
    assert taken == Counter([*EXECUTORS, "local"])
    figures.check("a run on six executors in turn")


@pytest.mark.chaos
@pytest.mark.timeout(600)
def test_a_run_is_interrupted_at_every_second_commit_on_executors_in_turn(make_world, figures, files_of):
    taken = check_hops(make_world(files=10), in_turn(commit=2), figures, files_of)
    assert min(taken[name] for name in EXECUTORS) > 1
    figures.check(f"a run on executors in turn, {dict(taken)}")


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(100))
def test_executors_interruptions_and_formats_at_random(make_world, kind, seed, figures, files_of):
    chance = random.Random(f"{kind} {seed}")
    hops = ((chance.choice(list(EXECUTORS)), chance.choice(list(KINDS)), chance.randint(1, 6)) for _ in range(1_000))
    taken = check_hops(make_world(files=chance.randint(6, 40), kind=kind), hops, figures, files_of)
    figures.check(f"{kind}, seed {seed}: {dict(taken)}")
