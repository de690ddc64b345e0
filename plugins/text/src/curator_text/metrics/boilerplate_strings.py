"""Phrases of cookie banners, terms and placeholder text: how many paragraphs of a document hold one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["BOILERPLATE", "PLACEHOLDER", "STRINGS"]

PLACEHOLDER = "lorem ipsum"
"""A document that holds it is placeholder text (C4, Raffel et al. 2020, section 2.2)."""

STRINGS = (
    "terms of use",
    "privacy policy",
    "cookie policy",
    "uses cookies",
    "use of cookies",
    "use cookies",
    "privacy overview",
    "privacy & cookies policy",
    "privacy and cookies policy",
    (
        "necessary cookies are absolutely essential for the website to function properly. this category only "
        "includes cookies that ensures basic functionalities and security features of the website. these cookies do"
        " not store any personal information."
    ),
    (
        "any cookies that may not be particularly necessary for the website to function and is used specifically to"
        " collect user personal data via analytics, ads, other embedded contents are termed as non-necessary "
        "cookies. it is mandatory to procure user consent prior to running these cookies on your website."
    ),
    "if you continue to browse this site without changing your cookie settings, you agree to this use. acceptread more",
)
"""The ``policy_substrings`` of NeMo Curator 1.4.0: phrases of C4 and banners of widespread consent plugins.

Two more of its banners are left out because they hold "uses cookies".
"""


def _measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
    from curator_text.kernels.blocks import ALL_BYTES, blocks
    from curator_text.kernels.boilerplate import boilerplate_counts

    counts = np.zeros((3, texts.num_documents), dtype=np.int64)
    for block in blocks(texts, ALL_BYTES):
        boilerplate_counts(block.data, block.offsets, block.rows, counts)
    return {"paragraphs": counts[0], "boilerplate_paragraphs": counts[1], "placeholders": counts[2]}


BOILERPLATE = MetricGroup("boilerplate", _measure, compiled=True)
"""Number of paragraphs, of those with one of :data:`STRINGS`, and of occurrences of :data:`PLACEHOLDER`."""
