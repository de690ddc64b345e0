"""Find the words of a document: runs of characters that are not whitespace, which may be split further."""

from __future__ import annotations

import numpy as np

from curator_text.kernels.characters import ALPHA, SPACE, SYMBOL
from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.hashing import hash_bytes
from curator_text.kernels.spacy_splits import HAS_ALPHA, HAS_SOLID, put_word, split_chunk
from curator_text.kernels.utf8 import kind_at, width_at
from curator_text.kernels.vector import class_bits, count_bits, first_bit, trail_bits

__all__ = ["split_documents"]

_ONE = np.uint64(1)
_NONE = np.uint64(0)


@inlined
def _split_document(data, begin, end, spacy_like, tables, words, number):
    """Add the words of a document, and return the number of words."""
    pages, kinds = tables[0], tables[1]
    in_word = False
    start = begin
    letters = solids = others = _NONE
    trails = 0
    spill = 0  # bytes of a whitespace character that reaches into the next block
    position = 0
    base = begin
    while base < end:
        space, letter, digit, high = class_bits(data, base)
        solid = letter | digit
        other = ~letter
        trail = _NONE
        if end - base < 64:
            valid = (_ONE << np.uint64(end - base)) - _ONE
            space |= ~valid
            high &= valid
        if high or spill:
            trail = trail_bits(data, base) & high
            space |= (_ONE << np.uint64(spill)) - _ONE
            spill = 0
            leads = high & ~trail
            while leads:
                at = first_bit(leads)
                leads &= leads - _ONE
                kind = kind_at(data, base + at, pages, kinds)
                if kind & SPACE:
                    width = width_at(data, base + at)
                    space |= ((_ONE << np.uint64(width)) - _ONE) << np.uint64(at)
                    spill = max(0, at + width - 64)
                if kind & ALPHA:
                    letter |= _ONE << np.uint64(at)
                if not kind & SYMBOL:
                    solid |= _ONE << np.uint64(at)
        position = 0
        while True:
            if not in_word:
                ahead = ~space >> np.uint64(position)
                if not ahead:
                    break
                position += first_bit(ahead)
                start = base + position
                in_word = True
                letters = solids = others = _NONE
                trails = 0
            ahead = space >> np.uint64(position)
            is_whole = ahead != 0 or base + 64 == end  # the word ends in this block, or with it
            length = first_bit(ahead) if ahead else 64 - position
            inside = (_ONE << np.uint64(length)) - _ONE if length < 64 else ~_NONE
            letters |= (letter >> np.uint64(position)) & inside
            solids |= (solid >> np.uint64(position)) & inside
            others |= (other >> np.uint64(position)) & inside
            if trail:
                trails += count_bits((trail >> np.uint64(position)) & inside)
            if not is_whole:
                break
            position += length
            stop = base + position
            in_word = False
            if spacy_like:
                plain = min(first_bit(others), stop - start) if start >= base or not others else 0
                number = split_chunk(data, start, stop, plain, tables, words, number)
            else:
                flags = (HAS_ALPHA if letters else 0) | (HAS_SOLID if solids else 0)
                value = hash_bytes(data, start, stop)
                number = put_word(words, number, start, stop, value, stop - start - trails, flags)
            if position == 64:
                break
        base += 64
    return number


@kernel
def split_documents(data, offsets, rows, spacy_like, tables, words, firsts):
    """Find the words of some documents.

    Args:
        data: Bytes of the documents; 64 more can be read behind the last.
        offsets: Where documents start.
        rows: The documents.
        spacy_like: Whether to split words further as spaCy's English tokenizer does.
        tables: Tables for splitting (see :func:`curator_text.kernels.split_tables.split_tables`).
        words: Written: starts, ends, hashes, characters and flags of words, and two arrays to work in. Room for as
            many words as the documents have bytes.
        firsts: Written: the number of the first word of each of the documents, and of all words.
    """
    text = np.int64(data.ctypes.data)
    table_at = (
        np.int64(tables[0].ctypes.data),
        np.int64(tables[1].ctypes.data),
        np.int64(tables[2].ctypes.data),
        np.int64(tables[3].ctypes.data),
        np.int64(tables[4].ctypes.data),
        np.int64(tables[5].ctypes.data),
    )
    words_at = (
        np.int64(words[0].ctypes.data),
        np.int64(words[1].ctypes.data),
        np.int64(words[2].ctypes.data),
        np.int64(words[3].ctypes.data),
        np.int64(words[4].ctypes.data),
        np.int64(words[5].ctypes.data),
        np.int64(words[6].ctypes.data),
    )
    number = np.int64(0)
    for i in range(rows.size):
        firsts[i] = number
        row = rows[i]
        number = _split_document(text, offsets[row], offsets[row + 1], spacy_like, table_at, words_at, number)
    firsts[rows.size] = number
