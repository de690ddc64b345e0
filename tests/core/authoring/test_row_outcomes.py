"""Rows that cannot be read are set aside; what is known about the others stays known."""

import polars as pl
import pytest

from curator_core import TableBatch
from curator_core.authoring.derived import derived
from curator_core.authoring.recording import Recording
from curator_core.authoring.row_outcomes import keep_readable
from curator_core.values.errors import DataError


def test_what_was_computed_of_the_readable_rows_is_not_computed_again():
    batch = TableBatch(data={"uri": ["a", "b", "c"]})
    derived(batch.data, "uri", "length", lambda: pl.DataFrame({"chars": [1, 2, 3]}))
    recording = Recording()
    token = recording.begin()
    try:
        kept, found = keep_readable(batch, [10, DataError("torn"), 30], error_type="Unreadable")
    finally:
        recording.end(token)
    assert (kept.data["uri"].to_pylist(), found) == (["a", "c"], [10, 30])
    assert [(record.message, record.error_type) for record in recording.bad_records] == [("torn", "Unreadable")]
    known = derived(kept.data, "uri", "length", lambda: pytest.fail("it was computed again"))
    assert known["chars"].to_list() == [1, 3]
