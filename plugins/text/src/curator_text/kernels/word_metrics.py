"""Count the metrics of words for Gopher's and other rules."""

from __future__ import annotations

import numpy as np

from curator_text.kernels.compiling import kernel
from curator_text.kernels.spacy_splits import HAS_ALPHA, HAS_SOLID
from curator_text.kernels.vector import count_bits

__all__ = ["WORD_COLUMNS", "measure_words"]

WORD_COLUMNS = ("words", "word_chars", "longest_word", "alpha_words", "solid_words", "solid_word_chars", "stop_words")

_ONE = np.uint64(1)


@kernel
def measure_words(words, firsts, rows, stop_words, stop_bits, longest_stop_word, out):
    """Fill a column of ``out`` for each document, with :data:`WORD_COLUMNS`.

    Args:
        words: The words of the documents, as :func:`curator_text.kernels.words.split_documents` has written them.
        firsts: The number of the first word of each document, and of all words.
        rows: The documents.
        stop_words: A table of the hashes of up to 64 words (see :func:`curator_text.kernels.split_tables.hash_table`).
        stop_bits: The bit of each, in its place.
        longest_stop_word: Characters of the longest of them.
        out: Result.
    """
    hashes, chars, flags = words[2], words[3], words[4]
    mask = np.uint64(stop_words.size - 1)
    for document in range(rows.size):
        total = longest = alpha = solid = solid_chars = 0
        seen = np.uint64(0)
        for i in range(firsts[document], firsts[document + 1]):
            length = np.int64(chars[i])
            flag = np.int64(flags[i])
            total += length
            longest = max(longest, length)
            alpha += flag & HAS_ALPHA
            is_solid = (flag & HAS_SOLID) >> 1
            solid += is_solid
            solid_chars += length * is_solid
            if length <= longest_stop_word:
                value = hashes[i]
                slot = value & mask
                while stop_words[slot]:
                    if stop_words[slot] == value:
                        seen |= stop_bits[slot]
                        break
                    slot = (slot + _ONE) & mask
        row = rows[document]
        out[0, row] = firsts[document + 1] - firsts[document]
        out[1, row] = total
        out[2, row] = longest
        out[3, row] = alpha
        out[4, row] = solid
        out[5, row] = solid_chars
        out[6, row] = count_bits(seen)
