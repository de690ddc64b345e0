"""The pipelines of the trials: tasks that fan out, are dropped, batched and written, some of them deadly."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from curator_core import EmptyTask, Pipeline, ProcessingStage, Task

HANG_S = 1e6
TIMEOUT_S = 8.0
WORLD = []
"""The world of the trial under way: stages are pickled, so they find it here."""


def fingerprint(*parts):
    """Return a number that depends on nothing but the arguments."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=4).digest(), "big")


@dataclass(frozen=True)
class Job:
    """What is to be done, made from a seed.

    Args:
        seed: Of the trial.
        sources: How many source tasks.
        max_parts: Each becomes none to so many tasks.
        batch_size: Of the stage in the middle.
        guilty: Source tasks that always end their worker, by kind of end.
    """

    seed: int
    sources: int
    max_parts: int
    batch_size: int
    makes_sources: bool
    is_fused: bool
    task_s: float
    guilty: dict = field(default_factory=dict)

    @classmethod
    def draw(cls, random, seed):
        sources = random.randint(2, 16)
        kinds = ["kill", "hang", "memory", "raise"]
        guilty = {random.randrange(sources): random.choice(kinds) for _ in range(random.choice([0, 0, 0, 1, 1, 2]))}
        return cls(
            seed,
            sources,
            max_parts=random.choice([1, 3, 8]),
            batch_size=random.choice([1, 1, 3]),
            makes_sources=random.random() < 0.4,
            is_fused=random.random() < 0.5,
            task_s=random.choice([0.001, 0.005, 0.02, 0.15]),
            guilty=guilty,
        )

    def parts_of(self, number):
        """Return how many tasks a source becomes."""
        return fingerprint(self.seed, "parts", number) % (self.max_parts + 1)

    def weight_of(self, number):
        """Return how much longer a source takes than most: calls of several tasks end within a long one."""
        return 30.0 if fingerprint(self.seed, "weight", number) % 4 == 0 else 1.0

    def is_dropped(self, number, part):
        """Return whether the stage in the middle drops a task."""
        return fingerprint(self.seed, "drop", number, part) % 5 == 0

    def dies_at(self, number):
        """Return at which of its parts a guilty source ends its worker."""
        return fingerprint(self.seed, "dies", number) % (self.parts_of(number) + 1)

    def expected(self):
        """Return the files of the innocent, with their content."""
        return {
            path_of(f"{number}/{part}"): content_of(number, part)
            for number in range(self.sources)
            if number not in self.guilty
            for part in range(self.parts_of(number))
            if not self.is_dropped(number, part)
        }

    def allowed(self):
        """Return the files that guilty ones may have left before they failed."""
        return {
            path_of(f"{number}/{part}"): content_of(number, part)
            for number in self.guilty
            for part in range(self.dies_at(number))
            if not self.is_dropped(number, part)
        }

    def pipeline(self):
        """Return the pipeline."""
        stages = [Fan(self), Middle(self).with_(batch_size=self.batch_size), Write(self)]
        if self.makes_sources:
            stages.insert(0, Numbers(self))
        return Pipeline("simulated", stages=[stage.with_(fuse=self.is_fused) for stage in stages])

    def initial_tasks(self):
        """Return what the pipeline starts with."""
        return None if self.makes_sources else [Task(data=number) for number in range(self.sources)]


def path_of(task_id):
    return f"part-{task_id}"


def content_of(number, part):
    return f"{number}:{part}" + "." * 90


def spend(job, weight=1.0):
    """Let a stage take its time, which differs from one try to the next."""
    world = WORLD[-1]
    world.local_s += min(1.0, weight * job.task_s * world.between(0.2, 2.0))


def end_worker(how):
    """End the process that runs this, or let it hang. What it does after that never happens."""
    world = WORLD[-1]
    if how == "hang":
        world.local_s += HANG_S
    elif how == "raise":
        raise ValueError("a task that no try gets through")
    else:
        world.doom(how)


class Numbers(ProcessingStage[EmptyTask, Task]):
    def __init__(self, job: object) -> None:
        self.job = job

    def process(self, task):
        for number in range(self.job.sources):
            spend(self.job)
            yield Task(data=number)


class Fan(ProcessingStage[Task, Task]):
    timeout_s = TIMEOUT_S

    def __init__(self, job: object) -> None:
        self.job = job

    def setup(self, worker):
        world = WORLD[-1]
        if world.happens(world.nodes[worker.node_id].setup_failures):
            world.faults["setup failure"] += 1
            raise OSError(f"{worker.node_id} has no licence")

    def process(self, task):
        job, number = self.job, task.data
        how = job.guilty.get(number)
        for part in range(job.parts_of(number) + 1):
            spend(job, job.weight_of(number))
            if how is not None and part == job.dies_at(number):
                end_worker(how)
            if part < job.parts_of(number):
                yield Task(data=content_of(number, part))


class Middle(ProcessingStage[Task, Task]):
    timeout_s = TIMEOUT_S

    def __init__(self, job: object) -> None:
        self.job = job

    def process(self, task):
        spend(self.job)
        number, part = (int(each) for each in task.data.rstrip(".").split(":"))
        return None if self.job.is_dropped(number, part) else task

    def process_batch(self, tasks):
        return [self.process(task) for task in tasks]


class Write(ProcessingStage[Task, Task]):
    timeout_s = TIMEOUT_S

    def __init__(self, job: object) -> None:
        self.job = job

    def process(self, task):
        spend(self.job)
        WORLD[-1].write_later(path_of(task.task_id), task.data)
        return Task(data=path_of(task.task_id))

    def remove_output(self, sources, *, only_torn):
        if only_torn:
            return
        stems = tuple(f"{path_of(source)}/" for source in sources)
        for path in [each for each in WORLD[-1].files if each.startswith(stems)]:
            del WORLD[-1].files[path]


def doubled(paths):
    """Return how many outputs came out more than once."""
    return sum(count - 1 for count in Counter(paths).values() if count > 1)
