"""The metrics and rules of the quality filters in plain Python, one document at a time, to test the kernels against.

Written from the definitions (Rae et al. 2021, Raffel et al. 2020, Penedo et al. 2024, and datatrove's reading of them).
"""

import re
from collections import Counter
from functools import cache

from curator_text.kernels import characters as kinds

STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}


def is_kind(character, kind):
    return bool(kinds.character_table().of(character) & kind)


def repeated(elements):
    """Return how many elements occurred before, and their characters."""
    seen, number, chars = set(), 0, 0
    for element in elements:
        if element in seen:
            number += 1
            chars += len(element)
        seen.add(element)
    return number, chars


def line_counts(text, short_line=30):
    lines = text.splitlines()
    full = [line for line in text.split("\n") if line.strip()]
    split = re.split("\n+", text)
    paragraphs = re.split("\n{2,}", text.strip())
    return {
        "chars": len(text),
        "newlines": text.count("\n"),
        "hashes": text.count("#"),
        "ellipses": text.count("...") + text.count("\u2026"),
        "lines": len(lines),
        "bullet_lines": sum(line.lstrip().startswith(("\u2022", "-")) for line in lines),
        "ellipsis_lines": sum(line.rstrip().endswith(("...", "\u2026")) for line in lines),
        "full_lines": len(full),
        "ended_lines": sum(is_kind(line[-1], kinds.TERMINAL) for line in full),
        "short_lines": sum(len(line) <= short_line for line in full),
        "repeated_full_line_chars": repeated(full)[1],
        "split_lines": len(split),
        "repeated_lines": repeated(split)[0],
        "repeated_line_chars": repeated(split)[1],
        "paragraphs": len(paragraphs),
        "repeated_paragraphs": repeated(paragraphs)[0],
        "repeated_paragraph_chars": repeated(paragraphs)[1],
    }


def word_counts(words, stop_words=STOP_WORDS):
    solid = [word for word in words if any(not is_kind(each, kinds.SYMBOL) for each in word)]
    return {
        "words": len(words),
        "word_chars": sum(map(len, words)),
        "longest_word": max(map(len, words), default=0),
        "alpha_words": sum(any(each.isalpha() for each in word) for word in words),
        "solid_words": len(solid),
        "solid_word_chars": sum(map(len, solid)),
        "stop_words": len(set(words) & set(stop_words)),
    }


def top_ngram_chars(words, n):
    ngrams = Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1))
    if not ngrams:
        return 0
    top, times = ngrams.most_common(1)[0]
    return len(" ".join(top)) * times


def repeated_ngram_chars(words, n):
    seen, chars, at = set(), 0, 0
    while at + n <= len(words):
        ngram = tuple(words[at : at + n])
        if ngram in seen:
            chars += len("".join(ngram))
            at += n
        else:
            seen.add(ngram)
            at += 1
    return chars


CITATION = re.compile(r"\[\d*\]|\[edit\]|\[citation needed\]")
POLICIES = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")


def lower(text):
    """Lower-case as the kernels do: ASCII letters only, which all phrases consist of."""
    return "".join(each.lower() if each.isascii() else each for each in text)


def c4(text, count_sentences, min_sentences=5):
    """Return the reason to drop a document, its sentences until then, and its text where it is kept."""
    kept, sentences = [], 0
    for raw in text.splitlines():
        words = raw.split()
        if any(len(word) > 1000 for word in words):
            continue
        line = CITATION.sub("", raw.strip())
        if not line.endswith((".", "?", "!", '"', "'")) or line.endswith("...") or len(words) < 3:
            continue
        if "lorem ipsum" in lower(line):
            return "lorem_ipsum", sentences, None
        if "javascript" in lower(line):
            continue
        if "{" in line:
            return "curly_bracket", sentences, None
        if any(policy in lower(line) for policy in POLICIES):
            continue
        sentences += count_sentences(line)
        kept.append(line)
    if sentences < min_sentences:
        return "too_few_sentences", sentences, None
    return None, sentences, "\n".join(kept).strip()


def terminated_sentences(line):
    """Count sentences by the regular expression of datatrove's fallback tokenizer."""
    return max(1, len(_terminated().findall(line)))


@cache
def _terminated():
    ends, upper = re.escape(characters_of(kinds.TERMINAL)), characters_of(kinds.UPPER_LETTER)
    return re.compile(f"(?:(?:[{upper}]\\.)|.)+?[{ends}\n]+[\"'\u201d]?")


@cache
def characters_of(kind):
    """Return all characters of a kind."""
    table = kinds.character_table()
    points = (table.kinds.reshape(-1, 256)[table.pages].reshape(-1) & kind).nonzero()[0]
    return "".join(map(chr, points.tolist()))
