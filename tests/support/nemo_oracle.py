"""Every heuristic, repetition and code filter of NeMo Curator 1.4.0 in plain Python: one score per document.

Written from the definitions, with no regard to speed, to test the compiled metrics against. Where NeMo Curator raises
on a document without words, lines or characters, the scores here are those that our stages document.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache

import polars as pl

END_MARKS = (".", "?", "!", '"', "'")
ELLIPSES = ("...", "[...]", "…", "(...)", "[…]", "-»", "read more..", "read more")
BULLETS = "•‣⁃⁌⁍∙○●◘◦⦾⦿"  # noqa: RUF001 - the hyphen bullet is meant
COMMON_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}
URL = re.compile(r"https?://(?:[A-Za-z0-9$\-_@.&+/:=?#~!*(),]|%[0-9A-Fa-f]{2})+")


def lines_of(text):
    return [line for line in text.split("\n") if line.strip()]


def ratio(count, total, *, of_nothing):
    return count / total if total else of_nothing


def fraction_of_characters(text, is_counted):
    return ratio(sum(map(is_counted, text)), len(text), of_nothing=1.0)


def non_alpha_numeric(text):
    return fraction_of_characters(text, lambda each: not (unicodedata.category(each)[0] in "LMN" or each in "\n?!,."))


def non_alpha_numeric_ascii(text):
    return fraction_of_characters(text, lambda each: not ((each.isascii() and each.isalnum()) or each in "\n?!,."))


def numbers(text):
    return fraction_of_characters(text, lambda each: unicodedata.category(each) == "Nd")


def white_space(text):
    return fraction_of_characters(text, lambda each: each in "\t\n\r\b ")


def parentheses(text):
    return fraction_of_characters(text, lambda each: each in "{}⟨⟩[]()")


def urls(text):
    return ratio(sum(len(found) for found in URL.findall(text)), len(text), of_nothing=1.0)


def symbols_to_words(text):
    words = text.split()
    symbols = sum(word in ELLIPSES or len(re.findall("#+", word)) / len(word) > 0.5 for word in words)
    return ratio(symbols, len(words), of_nothing=1.0)


def long_word(text):
    return max(map(len, text.split()), default=0)


def word_count(text):
    return len(text.split())


def mean_word_length(text):
    words = text.split()
    return ratio(sum(map(len, words)), len(words), of_nothing=0.0)


def common_english_words(text):
    return sum(word in COMMON_WORDS for word in text.split())


@cache
def alphabetic():
    """All characters with Unicode's Alphabetic property, as far as this Python's Unicode has them."""
    characters = pl.Series([chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF])
    found = characters.filter(characters.str.contains(r"\p{Alphabetic}"))
    return {each for each in found if unicodedata.category(each) != "Cn"}


def is_letter(character):
    return character in alphabetic()


def words_without_alphabets(text):
    words = text.split()
    return ratio(sum(any(map(is_letter, word)) for word in words), len(words), of_nothing=0.0)


def bullets(text):
    lines = lines_of(text)
    return ratio(sum(line.strip()[0] in BULLETS for line in lines), len(lines), of_nothing=1.0)


def punctuation(text):
    lines = lines_of(text)
    return ratio(sum(not line.strip().endswith(END_MARKS) for line in lines), len(lines), of_nothing=1.0)


def ellipsis(text):
    lines = lines_of(text)
    return ratio(sum(line.strip().lower().endswith(ELLIPSES) for line in lines), len(lines), of_nothing=1.0)


def boiler_plate_string(text, strings):
    paragraphs = [paragraph.lower() for paragraph in text.split("\n\n")]
    if any("lorem ipsum" in paragraph for paragraph in paragraphs):
        return 1.0
    return sum(any(each in paragraph for each in strings) for paragraph in paragraphs) / len(paragraphs)


def repeated_lines(text):
    lines = lines_of(text)
    return ratio(len(set(lines)), len(lines), of_nothing=0.0)


def repeated_lines_by_char(text):
    lines = lines_of(text)
    return ratio(sum(map(len, set(lines))), sum(map(len, lines)), of_nothing=0.0)


def repeated_paragraphs(text):
    paragraphs = text.split("\n\n")
    return len(set(paragraphs)) / len(paragraphs)


def repeated_paragraphs_by_char(text):
    paragraphs = text.split("\n\n")
    return ratio(sum(map(len, set(paragraphs))), sum(map(len, paragraphs)), of_nothing=0.0)


def n_grams(text, n):
    words = text.split()
    return [tuple(words[at : at + n]) for at in range(len(words) - n + 1)]


def possible_top_n_gram_fractions(text, n):
    """Fractions of the equally frequent top n-grams, that of the first first: NeMo Curator takes any of them."""
    counts = Counter(n_grams(text, n))
    if not counts:
        return [1.0]
    most = max(counts.values())
    needles = [" ".join(each) for each, count in counts.items() if count == most]
    return [(len(text) - len(text.replace(needle, ""))) / len(text) for needle in needles]


def repeating_top_n_grams(text, n):
    return possible_top_n_gram_fractions(text, n)[0]


def repeating_duplicate_n_grams(text, n):
    grams = n_grams(text, n)
    if not grams:
        return 1.0
    seen = set()
    characters = covered = 0
    for gram in grams:
        if gram in seen:
            characters += sum(map(len, gram[covered:])) + min(n - covered, n - 1)
            covered = n
        seen.add(gram)
        covered = max(covered - 1, 0)
    return characters / len(text)


def alpha(text):
    return ratio(sum(map(is_letter, text)), len(text), of_nothing=0.0)


def number_of_lines_of_code(text):
    return text.count("\n") + 1


def longest_line(text):
    return max(map(len, text.split("\n")))


def mean_line(text):
    return (len(text) + 1) / (text.count("\n") + 1) - 1


def letters(text):
    return sum(map(str.isalpha, text))
