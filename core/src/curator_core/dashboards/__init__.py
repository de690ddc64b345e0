"""Dashboards for Grafana over the metrics that runs publish through Ray."""

from __future__ import annotations

from pathlib import Path

__all__ = ["dashboard_path"]


def dashboard_path() -> Path:
    """Return the file to import in Grafana (Dashboards, New, Import).

    >>> dashboard_path().name
    'curator_stages.json'
    """
    return Path(__file__).with_name("curator_stages.json")
