"""Every stage of curator-dedup passes the conformance kit."""

from curator_core.testing import parametrize_with_checks


@parametrize_with_checks("dedup")
def test_dedup_conformance(check):
    check()
