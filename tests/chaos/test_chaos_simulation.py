"""The fault simulation at length: thousands of seeds that no other test has tried."""

import pytest

from tests.support.fault_simulation import Campaign

CHAOS_SEEDS = range(10_000, 15_000)
SOAK_SEEDS = range(100_000, 200_000)


def slices(seeds, size):
    return [pytest.param(seeds[begin : begin + size], id=str(seeds[begin])) for begin in range(0, len(seeds), size)]


@pytest.mark.chaos
@pytest.mark.parametrize("seeds", slices(CHAOS_SEEDS, 500))
def test_thousands_of_seeds(seeds, quick_path):
    campaign = Campaign(quick_path)
    campaign.run(seeds)
    campaign.check()


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seeds", slices(SOAK_SEEDS, 2_000))
def test_a_hundred_thousand_seeds(seeds, quick_path):
    campaign = Campaign(quick_path)
    campaign.run(seeds)
    campaign.check()
