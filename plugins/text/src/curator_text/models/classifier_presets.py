"""Published classifiers by name: their place, input length and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["PRESETS", "ClassifierPreset", "PresetName"]

PresetName = Literal[
    "quality",
    "domain",
    "multilingual_domain",
    "content_type",
    "fineweb_edu",
    "fineweb_mixtral_edu",
    "fineweb_nemotron_edu",
]

# The 26 classes are named in the model cards of both domain classifiers, the 11 and 3 in those of theirs.
_DOMAINS = (
    "Adult",
    "Arts_and_Entertainment",
    "Autos_and_Vehicles",
    "Beauty_and_Fitness",
    "Books_and_Literature",
    "Business_and_Industrial",
    "Computers_and_Electronics",
    "Finance",
    "Food_and_Drink",
    "Games",
    "Health",
    "Hobbies_and_Leisure",
    "Home_and_Garden",
    "Internet_and_Telecom",
    "Jobs_and_Education",
    "Law_and_Government",
    "News",
    "Online_Communities",
    "People_and_Society",
    "Pets_and_Animals",
    "Real_Estate",
    "Science",
    "Sensitive_Subjects",
    "Shopping",
    "Sports",
    "Travel_and_Transportation",
)
_CONTENT_TYPES = (
    "Product/Company/Organization/Personal Websites",
    "Explanatory Articles",
    "News",
    "Blogs",
    "MISC",
    "Boilerplate Content",
    "Analytical Exposition",
    "Online Comments",
    "Reviews",
    "Books and Literature",
    "Conversational",
)
_QUALITIES = ("High", "Medium", "Low")
_EDUCATIONAL = ("high_quality", "low_quality")


@dataclass(frozen=True)
class ClassifierPreset:
    """A published classifier.

    Args:
        model: Its id on the Hugging Face hub.
        labels: Its labels, in the order of the model's own files.
        max_length: Maximum number of tokens it reads.
        max_chars: Maximum number of characters it reads, where its users cut texts.
        label_column: Column for the label.
        score_column: Column for the label's probability, or for the score of a regression.
        int_column: Column for the rounded score of a regression.
        threshold: Score from which a regression says the first label.
    """

    model: str
    labels: tuple[str, ...]
    max_length: int
    label_column: str
    score_column: str
    max_chars: int | None = None
    int_column: str | None = None
    threshold: float | None = None


def _educational(model: str, name: str) -> ClassifierPreset:
    # Scores are meant to be from 0 to 5; from 2.5 on, NeMo Curator and the model cards speak of high quality.
    return ClassifierPreset(
        model,
        _EDUCATIONAL,
        max_length=512,
        label_column=f"{name}_label",
        score_column=f"{name}_score",
        int_column=f"{name}_int_score",
        threshold=2.5,
    )


def _of_text(model: str, labels: tuple[str, ...], name: str, *, max_length: int, max_chars: int) -> ClassifierPreset:
    return ClassifierPreset(
        model, labels, max_length=max_length, max_chars=max_chars, label_column=name, score_column=f"{name}_score"
    )


# Lengths in tokens and characters are the defaults of NeMo Curator's stages for these models.
PRESETS: dict[str, ClassifierPreset] = {
    "quality": _of_text("nvidia/quality-classifier-deberta", _QUALITIES, "quality", max_length=1024, max_chars=6000),
    "domain": _of_text("nvidia/domain-classifier", _DOMAINS, "domain", max_length=512, max_chars=2000),
    "multilingual_domain": _of_text(
        "nvidia/multilingual-domain-classifier", _DOMAINS, "domain", max_length=512, max_chars=2000
    ),
    "content_type": _of_text(
        "nvidia/content-type-classifier-deberta", _CONTENT_TYPES, "content_type", max_length=1024, max_chars=5000
    ),
    "fineweb_edu": _educational("HuggingFaceFW/fineweb-edu-classifier", "fineweb_edu"),
    "fineweb_mixtral_edu": _educational("nvidia/nemocurator-fineweb-mixtral-edu-classifier", "fineweb_mixtral_edu"),
    "fineweb_nemotron_edu": _educational(
        "nvidia/nemocurator-fineweb-nemotron-4-edu-classifier", "fineweb_nemotron_edu"
    ),
}
