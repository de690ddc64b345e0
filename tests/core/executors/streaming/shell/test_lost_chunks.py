"""Which chunks a call lost, when several calls report the same loss."""

from types import SimpleNamespace

import pytest

from curator_core import Task
from curator_core.executors.streaming.engine.model import Chunk
from curator_core.executors.streaming.shell.chunk_codec import decode, encode, fetch, keep
from curator_core.executors.streaming.shell.losses import lost_chunks


def chunk(name):
    return Chunk(0, 1, 0, None if name is None else SimpleNamespace(hex=lambda: name))


def test_the_named_chunk_is_lost():
    one, other = chunk("aa"), chunk("bb")
    assert lost_chunks([one, other, one], SimpleNamespace(object_ref_hex="aa")) == [one]


def test_without_a_name_all_are():
    one, other = chunk("aa"), chunk("bb")
    assert lost_chunks([one, other], SimpleNamespace()) == [one, other]


def test_a_chunk_that_another_call_has_reported_is_still_to_come():
    one, other = chunk(None), chunk("bb")
    assert lost_chunks([one, other], SimpleNamespace(object_ref_hex="aa")) == [one]


def test_a_chunk_that_was_made_again_meanwhile_is_not_lost():
    assert lost_chunks([chunk("new")], SimpleNamespace(object_ref_hex="aa")) == []


def test_small_source_tasks_travel_in_the_call_and_cannot_be_lost():
    payload, size_bytes = encode([Task(data=1)])
    handle = keep(payload, size_bytes, inline_bytes=64 << 10)
    assert fetch(handle) is payload
    source, other = Chunk(0, 1, size_bytes, handle), chunk("bb")
    assert lost_chunks([source, other], SimpleNamespace()) == [other]
    assert lost_chunks([source, other], SimpleNamespace(object_ref_hex="bb")) == [other]


@pytest.mark.usefixtures("ray_session")
def test_large_source_tasks_go_through_the_store():
    payload, size_bytes = encode([Task(data=b"x" * 200_000)])
    handle = keep(payload, size_bytes, inline_bytes=64 << 10)
    assert handle is not payload
    assert decode(fetch(handle))[0].data == b"x" * 200_000
