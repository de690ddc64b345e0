"""Replace personal data and secrets in documents."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import polars as pl

from curator_core.sdk import ConfigError, ProcessingStage, TableBatch
from curator_text.modifiers.text_modifier import rewrite_lines, rewrite_rows, with_text
from curator_text.privacy import account_numbers, api_keys, contact_data, ip_addresses
from curator_text.privacy.spans import replace_spans, without_overlaps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curator_core.sdk import Columns
    from curator_text.privacy.spans import Span

__all__ = ["PiiKind", "RedactPii", "find_pii"]

PiiKind = Literal["api_key", "login", "email", "iban", "credit_card", "us_ssn", "ip_address", "phone"]

_Finder: TypeAlias = "tuple[str, Callable[[str], Iterator[Span]]]"

_FINDERS: dict[PiiKind, _Finder] = {
    "api_key": (api_keys.API_KEY_SCREEN, api_keys.find_api_keys),
    "login": (contact_data.LOGIN_SCREEN, contact_data.find_logins),
    "email": (contact_data.EMAIL_SCREEN, contact_data.find_emails),
    "iban": (account_numbers.IBAN_SCREEN, account_numbers.find_ibans),
    "credit_card": (account_numbers.CARD_SCREEN, account_numbers.find_cards),
    "us_ssn": (account_numbers.SSN_SCREEN, account_numbers.find_ssns),
    "ip_address": (ip_addresses.IP_SCREEN, ip_addresses.find_public_ips),
    "phone": (contact_data.PHONE_SCREEN, contact_data.find_phones),
}
"""For each kind, a search that finds the lines that can hold one, and a function that finds where it is. In this
order: of overlapping finds, the kind that is recognised with more certainty counts."""

_DEFAULT_KINDS: tuple[PiiKind, ...] = ("api_key", "login", "email", "iban", "credit_card", "ip_address", "phone")


@dataclass
class RedactPii(ProcessingStage[TableBatch, TableBatch]):
    """Replace e-mail and IP addresses, telephone, card and account numbers, API keys and logins of web addresses.

    Checksums are verified (IBAN, credit cards), known formats are required, and plain digits need a word such as "Tel."
    before them, so that versions, ISBNs, dates and hashes stay. Everything else in a document stays byte for byte.
    Names and postal addresses are not detected: that takes a model.

    A search over the whole column finds the few lines that can hold a kind; only those are looked at in Python.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Mail ann@example.org or call +49 30 901820.", "Python 3.11.7.1"]})
    >>> RedactPii().process(batch).data["text"].to_pylist()
    ['Mail <email> or call <phone>.', 'Python 3.11.7.1']
    >>> RedactPii(kinds=["email"], replacement="user-{hash}").process(batch).data["text"].to_pylist()[0]
    'Mail user-f30e4604fab063e9 or call +49 30 901820.'

    Args:
        kinds: Kinds to replace. ``us_ssn`` is not among the defaults: other numbers have its form.
        replacement: Text to insert, in which ``{kind}`` stands for the kind and ``{hash}`` for 16 digits
            that are the same wherever the same words are replaced; or such a text for each kind.
        public_ips_only: Leave private, loopback, documentation and other special addresses.
        secret: Key of the hash. Without one, the hashed value can be found by trying all values.
        count_column: Column for the number of replacements; None for none.
        text_column: Column with the text.
    """

    kinds: list[PiiKind] = field(default_factory=lambda: list(_DEFAULT_KINDS))
    replacement: str | dict[PiiKind, str] = "<{kind}>"
    public_ips_only: bool = True
    secret: str = ""
    count_column: str | None = None
    text_column: str = "text"

    name = "text.redact_pii"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.kinds:
            raise ConfigError(f"{self.name}: no kinds are given", fix=f"some of: {', '.join(_FINDERS)}")
        missing = set(self.kinds) - set(self.replacement) if isinstance(self.replacement, dict) else set()
        if missing:
            raise ConfigError(f"{self.name}: replacement has nothing for {', '.join(sorted(missing))}")
        try:
            for kind in self.kinds:
                self._replace(kind, "")
        except (KeyError, IndexError, ValueError) as error:
            raise ConfigError(
                f"{self.name}: the replacement is not a template: {error}",
                fix="use {kind} and {hash} only, and write other braces twice",
            ) from error

    def inputs(self) -> Columns:
        return [self.text_column]

    def outputs(self) -> Columns:
        return [] if self.count_column is None else [self.count_column]

    def process(self, task: TableBatch) -> TableBatch:
        texts = task.text(self.text_column)
        counts = [0] * len(texts)
        changed = self._without_private_keys(texts, counts) if "api_key" in self.kinds else texts
        finders = self._finders()
        screen = "|".join(f"(?:{each})" for each, _ in finders.values())
        affected = changed.str.contains(screen).fill_null(value=False)
        numbers = affected.arg_true()

        def redact(rows: pl.Series) -> pl.Series:
            def redact_lines(lines: pl.DataFrame, marked: pl.Series) -> pl.Series:
                some = lines.filter(marked)
                return self._redact(some["line"], numbers.gather(some["row"]).to_list(), finders, counts)

            return rewrite_lines(rows, screen, redact_lines)

        changed = rewrite_rows(changed, affected, redact)
        out = task if changed is texts else with_text(task, self.text_column, changed)
        if self.count_column is None:
            return out
        total = pl.Series(counts, dtype=pl.Int64)
        return out.with_column(self.count_column, pl.select(pl.when(texts.is_not_null()).then(total)).to_series())

    def _without_private_keys(self, texts: pl.Series, counts: list[int]) -> pl.Series:
        """Replace finds of several lines, document by document; there are few."""
        affected = texts.str.contains(api_keys.PRIVATE_KEY_SCREEN)
        rows = affected.fill_null(value=False).arg_true().to_list()

        def redact(documents: pl.Series) -> pl.Series:
            redacted = []
            for row, document in zip(rows, documents, strict=True):
                found = find_pii(document, {"api_key": api_keys.find_private_keys})
                counts[row] += len(found)
                redacted.append(replace_spans(document, found, self._replace))
            return pl.Series(redacted, dtype=pl.String)

        return rewrite_rows(texts, affected, redact)

    def _redact(
        self, lines: pl.Series, rows: list[int], finders: dict[PiiKind, _Finder], counts: list[int]
    ) -> pl.Series:
        """Look for each kind in the lines that can hold it."""
        masks = [lines.str.contains(screen).to_list() for screen, _ in finders.values()]
        functions = {kind: finder for kind, (_, finder) in finders.items()}
        redacted = []
        for row, line, *flags in zip(rows, lines.to_list(), *masks, strict=True):
            found = find_pii(line, dict(itertools.compress(functions.items(), flags)))
            if found:
                counts[row] += len(found)
                line = replace_spans(line, found, self._replace)  # noqa: PLW2901 - the redacted line takes its place
            redacted.append(line)
        return pl.Series(redacted, dtype=pl.String)

    def _finders(self) -> dict[PiiKind, _Finder]:
        finders = {kind: finder for kind, finder in _FINDERS.items() if kind in self.kinds}
        if "ip_address" in finders and not self.public_ips_only:
            finders["ip_address"] = (ip_addresses.IP_SCREEN, ip_addresses.find_ips)
        return finders

    def _replace(self, kind: PiiKind, words: str) -> str:
        template = self.replacement if isinstance(self.replacement, str) else self.replacement[kind]
        if "{hash}" not in template:
            return template.format(kind=kind)
        key = hashlib.blake2b(self.secret.encode("utf-8"), digest_size=32).digest()
        digest = hashlib.blake2b(words.encode("utf-8"), key=key, digest_size=8).hexdigest()
        return template.format(kind=kind, hash=digest)


def find_pii(text: str, finders: dict[PiiKind, Callable[[str], Iterator[Span]]]) -> list[tuple[int, int, PiiKind]]:
    """Return begin, end and kind of all finds, in order and without overlaps.

    >>> find_pii("a@example.org", {"email": contact_data.find_emails})
    [(0, 13, 'email')]
    """
    return without_overlaps((begin, end, kind) for kind, finder in finders.items() for begin, end in finder(text))
