"""Find the guilty rows of a failing table by halving it, so that the innocent ones still come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from curator_core.interrupts import reraise_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator_core.tasks import TableBatch

__all__ = ["isolate_rows"]

Outcome = TypeVar("Outcome")

_PROBES = 16


def isolate_rows(
    batch: TableBatch,
    error: BaseException,
    *,
    call: Callable[[TableBatch], Outcome],
    accept: Callable[[Outcome], None],
    blame: Callable[[TableBatch, BaseException], None],
) -> None:
    """Process ever smaller parts of a batch that a row-wise function failed on.

    Args:
        batch: The batch; ``call`` has failed on the whole of it.
        error: What that call raised.
        call: Processes a part of the batch, or raises.
        accept: Gets the outcome of each part that went through, in row order.
        blame: Gets each part that cannot be processed: a single row, or the whole batch when a sample of its rows all
            fail, because then the stage is broken rather than the rows.
    """
    if batch.num_rows == 1 or _all_probes_fail(batch, call):
        blame(batch, error)
        return
    _halve(batch, call=call, accept=accept, blame=blame)


def _halve(
    batch: TableBatch,
    *,
    call: Callable[[TableBatch], Outcome],
    accept: Callable[[Outcome], None],
    blame: Callable[[TableBatch, BaseException], None],
) -> None:
    middle = batch.num_rows // 2
    for half in (batch.data.slice(0, middle), batch.data.slice(middle)):
        part = batch.with_data(half)
        try:
            outcome = call(part)
        except BaseException as error:  # noqa: BLE001 - the stage's own errors, of any kind, are what is being isolated
            reraise_interrupt(error)
            if part.num_rows == 1:
                blame(part, error)
            else:
                _halve(part, call=call, accept=accept, blame=blame)
        else:
            accept(outcome)


def _all_probes_fail(batch: TableBatch, call: Callable[[TableBatch], Outcome]) -> bool:
    if batch.num_rows <= _PROBES:
        return False  # halving is as cheap as probing
    step = batch.num_rows // _PROBES
    for index in range(0, step * _PROBES, step):
        try:
            call(batch.with_data(batch.data.slice(index, 1)))
        except BaseException as error:  # noqa: BLE001 - only whether it fails is asked; halving reports the failing rows
            reraise_interrupt(error)
            continue
        return False
    return True
