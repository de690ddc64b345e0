"""Tasks and rows that could not be processed: what is known about them, where they are kept, how they are retried."""

from __future__ import annotations

from curator_core.quarantine.record import QuarantineRecord, record_for_bad_record, record_for_task

__all__ = ["QuarantineRecord", "record_for_bad_record", "record_for_task"]
