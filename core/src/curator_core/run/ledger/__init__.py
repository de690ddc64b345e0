"""The ledger of a run: which source tasks are done for good, so that an interrupted run can be resumed."""

from __future__ import annotations

__all__: list[str] = []
