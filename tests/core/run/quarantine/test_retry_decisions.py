"""How records are retried and what the outcome means for them, without running anything."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from curator_core.authoring.tasks import source_id
from curator_core.call.quarantine_record import QuarantineRecord
from curator_core.run.quarantine.folder import Resolution
from curator_core.run.quarantine.retry_plan import lay_out, settle_kept, settle_sources

STAGES = ["read", "score", "write"]


def record(task_id="s/0", row=0, *, stage="score", payload="x.arrow", is_part=True, rows=1, attempts=1):
    return QuarantineRecord(
        stage, task_id, "f", row, rows, "ValueError", "no", is_part=is_part, payload_file=payload, attempts=attempts
    )


records = st.builds(
    record,
    task_id=st.sampled_from(["s/0", "s/1", "t/0", "u"]),
    row=st.integers(0, 3),
    stage=st.sampled_from([*STAGES, "gone"]),
    payload=st.sampled_from(["x.arrow", None]),
)


@given(st.lists(records, max_size=8, unique_by=lambda each: each.record_id), st.data())
def test_every_chosen_record_is_retried_one_way_or_refused(unresolved, data):
    chosen = [each for each in unresolved if data.draw(st.booleans())]
    order = lay_out(chosen, unresolved=unresolved, stages=STAGES)
    kept = [each for group in order.kept.values() for each in group]
    whole = [each for group in order.sources.values() for each in group]
    assert {each.record_id for each in chosen} <= {each.record_id for each in kept + whole} | set(order.impossible)
    assert not {each.record_id for each in kept} & {each.record_id for each in whole}
    assert all(each.payload_file for each in kept)
    # A source that is processed whole brings all of its rows, so none of them may come back alone as well.
    assert not {source_id(each.task_id) for each in kept} & set(order.sources)
    assert all(each.stage == "gone" for each in chosen if each.record_id in order.impossible)


def test_rows_of_a_task_get_a_name_of_their_own_and_whole_tasks_keep_theirs():
    part, whole = record(), record(is_part=False)
    assert part.retry_id == f"s/0/q{part.record_id}"
    assert whole.retry_id == "s/0"
    assert replace(part, task_id="").retry_id == f"q{part.record_id}"


def test_success_resolves_and_names_the_files():
    part, whole = record(), record("t/0", is_part=False, rows=9)
    outputs = {f"{part.retry_id}/1": ["b"], f"{part.retry_id}/0": ["a"], "t/0": ["c"]}
    verdicts = settle_kept([part, whole], [], outputs, time="now")
    assert verdicts.resolved == [Resolution(part.record_id, "now", ("a", "b")), Resolution(whole.record_id, "now")]
    assert verdicts.records == []


def test_the_same_failure_again_adds_to_the_attempts():
    before = record(attempts=4)
    now = replace(record(before.retry_id, is_part=False, attempts=3), record_id="other", message="still no")
    (left,) = settle_kept([before], [now], {}, time="now").records
    assert (left.record_id, left.task_id, left.attempts, left.message) == (before.record_id, "s/0", 7, "still no")
    assert left.retry_id == before.retry_id


def test_a_later_failure_that_left_nothing_to_retry_goes_back_to_what_was_kept():
    before = record(payload="kept.arrow")
    now = record(before.retry_id, stage="write", is_part=False, payload=None)
    (left,) = settle_kept([before], [now], {}, time="now").records
    assert (left.stage, left.payload_file) == ("score", "kept.arrow")


def test_rows_that_fail_again_replace_the_whole_task():
    whole = record(is_part=False, rows=9)
    rows = [record("s/0", row) for row in (1, 2)]
    verdicts = settle_kept([whole], rows, {}, time="now")
    assert verdicts.records == rows
    assert verdicts.resolved[0].replaced_by == tuple(each.record_id for each in rows)


def test_a_source_that_is_processed_again_settles_all_of_its_records():
    mended, broken, alone, alone_broken = (record("s/0", row) for row in range(4))
    new = record("s/1", 9)
    verdicts = settle_sources(
        [mended, broken],
        [replace(broken, attempts=2), new, alone_broken],
        known={each.record_id: each for each in (mended, broken, alone, alone_broken)},
        resolutions={
            alone.record_id: Resolution(alone.record_id, "before", ("alone",)),
            alone_broken.record_id: Resolution(alone_broken.record_id, "before", ("alone-broken",)),
        },
        time="now",
    )
    assert [each.record_id for each in verdicts.resolved] == [mended.record_id]
    assert verdicts.records == [replace(broken, attempts=3), new]
    assert verdicts.obsolete == ["alone"], "the other is not in the output of its source, so it stays"
