"""Count sentences, in one of two ways."""

from __future__ import annotations

import numpy as np

from curator_text.kernels.characters import TERMINAL, UPPER_LETTER
from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.spacy_splits import ENDS_SENTENCE, IS_PUNCTUATION
from curator_text.kernels.utf8 import kind_at, width_at
from curator_text.kernels.vector import byte_at

__all__ = ["count_sentences", "count_terminated"]


@kernel
def count_sentences(data, offsets, rows, words, firsts, out):
    """Count sentences as spaCy's sentencizer does: a word that is no punctuation starts one behind an end mark.

    Whitespace counts as a word unless it is one space.

    Args:
        data: Bytes of the texts.
        offsets: Where texts start.
        rows: The texts.
        words: Their words, split as spaCy does (see :func:`curator_text.kernels.words.split_documents`).
        firsts: The number of the first word of each text, and of all words.
        out: Written: for each text in ``rows``, at least one.
    """
    starts, ends, flags = words[0], words[1], words[4]
    for text in range(rows.size):
        end = offsets[rows[text] + 1]
        sentences = 1
        is_over = False
        last = firsts[text + 1] - 1
        for i in range(firsts[text], firsts[text + 1]):
            flag = flags[i]
            if flag & ENDS_SENTENCE:
                is_over = True
            elif is_over and not flag & IS_PUNCTUATION:
                sentences += 1
                is_over = False
            stop = starts[i + 1] if i < last else end
            gap = stop - ends[i]
            if is_over and gap > 0 and not (gap == 1 and data[ends[i]] == 0x20):
                sentences += 1
                is_over = False
        out[text] = sentences


@inlined
def _terminated_end(data, start, end, tables):
    """Return where the sentence that starts at ``start`` ends; negative where it does not end."""
    last_initial = np.int64(-1)
    at = start
    while True:
        # One character, or an upper-case letter with a full stop: an initial.
        width = width_at(data, at)
        is_initial = at + width < end and byte_at(data, at + width) == 0x2E
        if is_initial and kind_at(data, at, tables[0], tables[1]) & UPPER_LETTER:
            last_initial = at + width
            width += 1
        at += width
        if at >= end:
            break
        if kind_at(data, at, tables[0], tables[1]) & TERMINAL:
            last_initial = -1
            break
    if at >= end:
        if last_initial < 0:
            return -1
        at = last_initial  # nothing else ends it, so the full stop of the last initial does
    while at < end and kind_at(data, at, tables[0], tables[1]) & TERMINAL:
        at += width_at(data, at)
    if at < end:
        byte = byte_at(data, at)
        if byte == 0x22 or byte == 0x27:
            return at + 1
        if byte == 0xE2 and at + 3 <= end and byte_at(data, at + 1) == 0x80 and byte_at(data, at + 2) == 0x9D:
            return at + 3
    return at


@kernel
def count_terminated(data, offsets, rows, pages, kinds, out):
    """Count sentences as datatrove's fallback tokenizer does: what ends with end marks, but for those of initials.

    Args:
        data: Bytes of the texts; 64 more can be read. They have no line feeds.
        offsets: Where texts start.
        rows: The texts.
        pages: Pages of the table of characters.
        kinds: Kinds of characters.
        out: Written: for each text in ``rows``, at least one.
    """
    source = np.int64(data.ctypes.data)
    tables = (np.int64(pages.ctypes.data), np.int64(kinds.ctypes.data))
    for text in range(rows.size):
        at, end = offsets[rows[text]], offsets[rows[text] + 1]
        sentences = 0
        while at < end:
            at = _terminated_end(source, at, end, tables)
            if at < 0:
                break
            sentences += 1
        out[text] = max(1, sentences)
