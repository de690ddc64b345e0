"""Hosts whose link is cut during a run: it goes on when they are back, or without them, and blames no task for it."""

import json
import math
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from curator_core.run.ledger.ledger_file import read_ledger
from tests.support.cut_hosts import HEAD, NoHostsError, hosts

pytestmark = [pytest.mark.chaos, pytest.mark.waits, pytest.mark.timeout(1500)]

PROGRAM = Path(__file__).with_name("cut_program.py")
ROWS = 18
LONGEST_S = 600
UNTIL_GIVEN_UP = math.inf
# Ray gives a node up when it has missed so many checks in a row: five, each of ten seconds and three seconds after the
# last, unless told otherwise. Patient enough for a host that is only slow.
IMPATIENT = {
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "6000",
    "RAY_health_check_failure_threshold": "3",
}


@pytest.fixture
def make_hosts():
    """Make hosts, or say why that cannot be."""
    with ExitStack() as cleanup:

        def make(*names, **settings):
            try:
                return cleanup.enter_context(hosts(*names, **settings))
            except NoHostsError as error:
                pytest.skip(f"no hosts whose links can be cut: {error}")

        yield make


class Run:
    """A run on hosts, from the outside."""

    def __init__(self, root, made, *, files, seconds):
        self.root = root
        self.made = made
        (root / "in").mkdir()
        for number in range(files):
            rows = [json.dumps({"id": f"{number}-{row}", "text": "word " * 8}) for row in range(ROWS)]
            (root / "in" / f"{number:03}.jsonl").write_text("\n".join(rows) + "\n")
        subprocess.run([sys.executable, str(PROGRAM), str(root), "local", "0", "1"], check=True, timeout=120)
        command = [sys.executable, str(PROGRAM), str(root), made.address, str(seconds), str(len(made.names))]
        self.driver = made.popen(HEAD, *command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def calls_by_node(self):
        calls = Counter()
        for path in (self.root / "log").glob("*"):
            calls[path.name.partition("-")[0]] += len(path.read_text().splitlines())
        return calls

    def wait_until_at_work(self, nodes, late_s):
        """Wait until so many nodes have worked, and some output is there."""
        while len(self.calls_by_node()) < nodes or not any((self.root / "out").glob("part-*")):
            self.check_is_on()
            assert time.monotonic() < late_s, "the hosts do not get to work"
            time.sleep(0.1)

    def check_is_on(self):
        """Check that the run is under way."""
        assert self.driver.poll() is None, self.driver.communicate()[1][-3000:]

    def has_lost(self, name):
        """Return whether Ray has given a host up."""
        return (self.root / "gone" / self.made.address_of(name)).exists()

    def finish(self, late_s):
        out, err = self.driver.communicate(timeout=max(1, late_s - time.monotonic()))
        assert self.driver.returncode == 0, err[-3000:]
        return json.loads(out.splitlines()[-1])


def cut_links(run, made, cuts, late_s):
    """Cut links of a run under way for some seconds each, all from the same moment, or until Ray gives the host up."""
    run.check_is_on()
    cut_s = time.monotonic()
    for name in cuts:
        made.cut(name)
    for number, (name, seconds) in enumerate(sorted(cuts.items(), key=lambda each: each[1])):
        end_s = min(cut_s + seconds, late_s)
        while run.driver.poll() is None and time.monotonic() < end_s and not run.has_lost(name):
            time.sleep(0.1)
        if number == 0:
            run.check_is_on()
        made.restore(name)


def check(root, made, cuts, *, files, seconds, figures, files_of):
    """Run a pipeline, cut links in the middle, and compare with a run that nobody disturbed."""
    late_s = time.monotonic() + LONGEST_S
    run = Run(root, made, files=files, seconds=seconds)
    run.wait_until_at_work(len(made.names), late_s)
    cut_links(run, made, cuts, late_s)
    found = run.finish(late_s)
    figures.faults += len(cuts)
    figures.compare(files_of(root / "out"), files_of(root / "reference"))
    content = read_ledger(root / "run" / "ledger.jsonl")
    print(  # noqa: T201 - the figures are what the suite is for
        f"\nlinks of {len(made.names)} hosts cut for {cuts} s: {len(found['given_up'])} given up by Ray, "
        f"{len(found['quarantined'])} innocent tasks in quarantine, {len(content.done)} source tasks done, calls by "
        f"host {sorted(run.calls_by_node().values())}, {found['wall_s']:.0f} s"
    )
    assert found["quarantined"] == []
    assert found["rows"] == files * ROWS
    assert content.finished.is_complete
    assert set(content.done) == set(content.begun)
    figures.check(f"links cut for {sorted(cuts.values())} s")
    return found


def test_links_are_cut_for_a_moment_and_for_a_minute(make_hosts, tmp_path, figures, files_of):
    made = make_hosts("a", "b", "c", "d")
    check(tmp_path, made, {"a": 5, "b": 40, "c": 60}, files=120, seconds=0.5, figures=figures, files_of=files_of)


def test_a_host_that_is_away_for_longer_than_ray_waits_is_replaced(make_hosts, tmp_path, figures, files_of):
    made = make_hosts("a", "b", **IMPATIENT)
    found = check(tmp_path, made, {"a": UNTIL_GIVEN_UP}, files=80, seconds=0.6, figures=figures, files_of=files_of)
    assert made.address_of("a") in found["given_up"]
