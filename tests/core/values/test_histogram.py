from hypothesis import given
from hypothesis import strategies as st

from curator_core.values.histogram import Histogram

numbers = st.floats(min_value=-1e9, max_value=1e9, allow_nan=False)


@given(st.lists(numbers, max_size=50), st.lists(numbers, max_size=50))
def test_merging_equals_adding_all(left, right):
    merged, other, together = Histogram(), Histogram(), Histogram()
    merged.add_values(left)
    other.add_values(right)
    merged.merge(other)
    together.add_values(left + right)
    assert merged == together
    assert merged.count == len(left) + len(right) == sum(merged.bins.values())


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=100), st.floats(0, 1))
def test_quantiles_are_within_a_bin_of_the_truth(values, fraction):
    histogram = Histogram()
    histogram.add_values(values)
    exact = sorted(values)[min(len(values) - 1, max(0, int(fraction * len(values) + 0.999999) - 1))]
    assert exact * 0.999 <= histogram.quantile(fraction) <= max(exact * 1.19, histogram.minimum) * 1.001


def test_space_is_bounded_and_odd_values_are_left_out():
    histogram = Histogram()
    histogram.add_values([10.0**power for power in range(-300, 300)])
    histogram.add_values([float("nan"), float("inf"), 0.0])
    assert len(histogram.bins) <= 2 * 80 * 4 + 1
    assert histogram.count == 601
