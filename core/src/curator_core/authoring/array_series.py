"""Numpy arrays as polars series, by way of Arrow.

``pl.Series(array)`` first asks ``numpy.ma`` whether the array is masked, whose import takes longer than many a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["array_series"]


def array_series(name: str, values: NDArray[Any]) -> pl.Series:
    """Return an array of numbers or booleans as a series; numbers are shared, so nobody may change them afterwards.

    >>> import numpy as np
    >>> array_series("is_short", np.array([True, False, True])).to_list()
    [True, False, True]
    """
    import numpy as np
    import polars as pl
    import pyarrow as pa

    content = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    series: pl.Series = pl.Series(name, pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(content)]))
    return series
