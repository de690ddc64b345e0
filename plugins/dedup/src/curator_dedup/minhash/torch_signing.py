"""The signatures of the compiled kernels, computed with torch: on a GPU they come faster, and are the same.

All arithmetic is on 64-bit integers that wrap, which torch has as signed ones: sums, differences and products have the
same bits either way; shifts and comparisons are made unsigned by masking and by flipping the highest bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from curator_dedup.kernels.mixing import BASE
from curator_dedup.kernels.signatures import SKETCH_ROUNDS

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

    from curator_core.sdk import ColumnBytes
    from curator_dedup.minhash.scheme import MinhashScheme

__all__ = ["sign_with_torch"]

_LOW = 0xFFFFFFFF
_LARGEST = (1 << 63) - 1
_PAIRS_AT_ONCE = 1 << 24
"""Shingles times entries worked on at a time, which bounds the memory."""


def sign_with_torch(
    column: ColumnBytes, scheme: MinhashScheme, *, device: str
) -> tuple[NDArray[np.unsignedinteger[Any]], NDArray[np.int64]]:
    """Return the same signatures as :func:`curator_dedup.minhash.signing.sign`."""
    import torch

    offsets = torch.tensor(column.offsets - column.offsets[0], device=device)
    data = torch.tensor(column.data[column.offsets[0] : column.offsets[-1]], device=device).long()
    documents = column.num_values
    hashes, owners = (
        _word_shingles(data, offsets, scheme.ngrams)
        if scheme.unit == "word"
        else _char_shingles(data, offsets, scheme.ngrams)
    )
    counts = torch.bincount(owners, minlength=documents)
    factors, terms = (torch.tensor(each.astype(np.uint64).view(np.int64), device=device) for each in scheme.constants())
    if scheme.method == "sketch":
        rows = _sketch(hashes, owners, documents, factors, terms[0], scheme)
    else:
        rows = _multiply(hashes, owners, documents, factors, terms, scheme)
    return rows.cpu().numpy().view(np.uint64).astype(scheme.entry_type), counts.cpu().numpy()


def _sketch(
    hashes: torch.Tensor,
    owners: torch.Tensor,
    documents: int,
    factors: torch.Tensor,
    seed: torch.Tensor,
    scheme: MinhashScheme,
) -> torch.Tensor:
    import torch

    entries, bits = scheme.num_hashes, scheme.bits - 2
    mask = (1 << bits) - 1
    untouched = _LOW if scheme.bits == 32 else -1  # noqa: PLR2004
    rows = torch.full((documents * entries,), _flip(untouched), dtype=torch.int64, device=hashes.device)
    for current in range(SKETCH_ROUNDS - 1):
        value = hashes * (seed if current == 0 else seed ^ factors[current])
        entry = _shift(_shift(value, 32) * entries, 32)
        value = (value ^ _shift(value, 32)) & mask | _signed(current << bits)
        rows.scatter_reduce_(0, owners * entries + entry, _flip(value), "amin")
    limit = _flip(_signed((SKETCH_ROUNDS - 1) << bits))
    table = rows.view(documents, entries)
    has_shingles = torch.bincount(owners, minlength=documents) > 0
    for entry in torch.nonzero(((table >= limit) & has_shingles[:, None]).any(0)).flatten().tolist():
        value = hashes * factors[entry]
        value = (value ^ _shift(value, 32)) & mask | _signed((SKETCH_ROUNDS - 1) << bits)
        table[:, entry].scatter_reduce_(0, owners, _flip(value), "amin")
    unsigned: torch.Tensor = _flip(table)
    return unsigned


def _multiply(
    hashes: torch.Tensor,
    owners: torch.Tensor,
    documents: int,
    factors: torch.Tensor,
    terms: torch.Tensor,
    scheme: MinhashScheme,
) -> torch.Tensor:
    import torch

    is_narrow = scheme.bits == 32  # noqa: PLR2004
    values = _shift(hashes, 32) if is_narrow else hashes
    rows = torch.full((documents, scheme.num_hashes), _LARGEST, dtype=torch.int64, device=hashes.device)
    step = max(1, _PAIRS_AT_ONCE // max(1, len(values)))
    for first in range(0, scheme.num_hashes, step):
        chosen = slice(first, first + step)
        products = values[:, None] * factors[chosen] + terms[chosen]
        products = _flip(products & _LOW if is_narrow else products)
        rows[:, chosen].scatter_reduce_(0, owners[:, None].expand_as(products), products, "amin")
    unsigned: torch.Tensor = _flip(rows)
    return unsigned & _LOW if is_narrow else unsigned


def _char_shingles(data: torch.Tensor, offsets: torch.Tensor, ngrams: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the hash of every shingle of characters, and the document it is in."""
    import torch

    size = len(data)
    is_start = torch.ones(size + 1, dtype=torch.bool, device=data.device)
    is_start[:size] = (data & 0xC0) != 0x80  # noqa: PLR2004
    starts = torch.nonzero(is_start).flatten()  # of characters, and the end of the data
    owner = torch.searchsorted(offsets, starts[:-1], right=True) - 1
    last_of = torch.searchsorted(starts, offsets[1:])  # number of the first character behind each document
    ends_at = torch.minimum(torch.arange(len(owner), device=data.device) + ngrams, last_of[owner])
    is_first = torch.searchsorted(starts, offsets[:-1])[owner] == torch.arange(len(owner), device=data.device)
    is_whole = torch.arange(len(owner), device=data.device) + ngrams <= last_of[owner]
    chosen = torch.nonzero(is_whole | is_first).flatten()
    begin, end = starts[chosen], starts[ends_at[chosen]]
    return _mix(_polynomials(data, begin, end)), owner[chosen]


def _word_shingles(data: torch.Tensor, offsets: torch.Tensor, ngrams: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the hash of every shingle of words, and the document it is in."""
    import torch

    size = len(data)
    none = torch.zeros(0, dtype=torch.int64, device=data.device)
    if size == 0:
        return none, none
    is_word = ~_is_space(data, offsets)
    edge = torch.zeros(size + 1, dtype=torch.bool, device=data.device)
    edge[offsets] = True  # a word ends with its document
    before = torch.zeros(size, dtype=torch.bool, device=data.device)
    before[1:] = is_word[:-1]
    after = torch.zeros(size, dtype=torch.bool, device=data.device)
    after[:-1] = is_word[1:]
    begin = torch.nonzero(is_word & (~before | edge[:-1])).flatten()
    end = torch.nonzero(is_word & (~after | edge[1:])).flatten() + 1
    if len(begin) == 0:
        return none, none
    owner = torch.searchsorted(offsets, begin, right=True) - 1
    words = _mix(_polynomials(data, begin, end) + _powers(end - begin))
    number = torch.arange(len(words), device=data.device)
    first_word = torch.searchsorted(owner, owner)
    last_word = torch.searchsorted(owner, owner, right=True)
    is_whole = number + ngrams <= last_word
    chosen = torch.nonzero(is_whole | (number == first_word)).flatten()
    stops = torch.minimum(chosen + ngrams, last_word[chosen])
    return _mix(_polynomials(words, chosen, stops)), owner[chosen]


def _is_space(data: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Mark the bytes of whitespace characters, as ``str.isspace`` has them."""
    import torch

    size = len(data)
    space = ((data >= 9) & (data <= 13)) | ((data >= 28) & (data <= 32))  # noqa: PLR2004
    padded = torch.cat([data, torch.zeros(2, dtype=data.dtype, device=data.device)])
    second, third = padded[1 : size + 1], padded[2 : size + 2]
    pairs = (data == 0xC2) & ((second == 0x85) | (second == 0xA0))  # noqa: PLR2004
    point = (data & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F
    triples = (data >= 0xE1) & (data <= 0xE3) & ((point >= 0x2000) & (point <= 0x200A))  # noqa: PLR2004
    for single in (0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000):
        triples |= (data >= 0xE1) & (data <= 0xE3) & (point == single)  # noqa: PLR2004
    del offsets  # characters never reach over the end of a document: the text is valid UTF-8
    for mark, width in ((pairs, 2), (triples, 3)):
        at = torch.nonzero(mark).flatten()
        for step in range(width):
            space[at + step] = True
    return space


def _polynomials(values: torch.Tensor, begin: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
    """Return the polynomial hash of runs of values: prefix sums over powers of the base's inverse, scaled back."""
    import torch

    inverse = pow(BASE, -1, 1 << 64)
    count = len(values)
    scaled = values * _power_table(inverse, count, values.device)
    sums = torch.zeros(count + 1, dtype=torch.int64, device=values.device)
    torch.cumsum(scaled, 0, out=sums[1:])
    forward = _power_table(BASE, count + 1, values.device)
    # Σ v[k] B^(end-1-k) = B^(end-1) Σ v[k] B^-k
    return (sums[end] - sums[begin]) * forward[torch.clamp(end - 1, min=0)]


def _powers(exponents: torch.Tensor) -> torch.Tensor:
    return _power_table(BASE, int(exponents.max()) + 1, exponents.device)[exponents]


def _power_table(base: int, count: int, device: Any) -> torch.Tensor:
    """Return the powers of a base from zero on, by doubling."""
    import torch

    table = torch.ones(max(1, count), dtype=torch.int64, device=device)
    have = 1
    while have < count:
        take = min(have, count - have)
        table[have : have + take] = table[:take] * _signed(pow(base, have, 1 << 64))
        have += take
    return table


def _mix(value: torch.Tensor) -> torch.Tensor:
    value = value ^ _shift(value, 33)
    value = value * _signed(0xFF51AFD7ED558CCD)
    value = value ^ _shift(value, 33)
    value = value * _signed(0xC4CEB9FE1A85EC53)
    return value ^ _shift(value, 33)


def _shift(value: torch.Tensor, bits: int) -> torch.Tensor:
    return (value >> bits) & ((1 << (64 - bits)) - 1)


def _flip(value: Any) -> Any:
    """Turn the order of unsigned numbers into that of signed ones, or back."""
    return value ^ -(1 << 63)


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
