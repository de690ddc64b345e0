"""Stages that run models over documents, and that count tokens."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "tokenize",
        target="curator_text.models.tokenize:Tokenize",
        summary="Add the token ids of each document, for model stages.",
        kind="annotator",
        requires=("tokenizers",),
        extra="tokens",
    ),
    StageSpec(
        "add_token_count",
        target="curator_text.models.add_token_count:AddTokenCount",
        summary="Add the number of tokens of each document, and drop documents by it.",
        kind="annotator",
        requires=("tokenizers",),
        extra="tokens",
    ),
    StageSpec(
        "token_count",
        target="curator_text.models.token_count:TokenCount",
        summary="Drop documents with too few or too many tokens.",
        kind="filter",
        requires=("tokenizers",),
        extra="tokens",
    ),
    StageSpec(
        "tokenizer_fertility",
        target="curator_text.models.tokenizer_fertility:TokenizerFertility",
        summary="Drop documents with few characters per token.",
        kind="filter",
        requires=("tokenizers",),
        extra="tokens",
    ),
    StageSpec(
        "embed",
        target="curator_text.models.embed:Embed",
        summary="Add a vector per document, made by a transformer.",
        kind="model",
        requires=("tokenizers", "torch", "transformers", "safetensors"),
        extra="models",
    ),
    StageSpec(
        "classify",
        target="curator_text.models.classify:Classify",
        summary="Add the label that a transformer gives each document, and drop documents by it.",
        kind="model",
        requires=("tokenizers", "torch", "transformers", "safetensors"),
        extra="models",
    ),
    StageSpec(
        "fasttext_classify",
        target="curator_text.models.fasttext_classify:FasttextClassify",
        summary="Add the label that a fastText model gives each document, and drop documents by it.",
        kind="model",
        requires=("fasttext",),
        extra="fasttext",
    ),
    StageSpec(
        "fast_text_quality",
        target="curator_text.models.fast_text_quality:FastTextQuality",
        summary="Keep documents by the quality score of a fastText model, those of low score at random.",
        kind="filter",
        requires=("fasttext",),
        extra="fasttext",
    ),
    StageSpec(
        "perplexity",
        target="curator_text.models.perplexity:Perplexity",
        summary="Drop documents by their perplexity under a KenLM model.",
        kind="filter",
        requires=("kenlm",),
        extra="kenlm",
    ),
    StageSpec(
        "llm",
        target="curator_text.llm.llm:Llm",
        summary="Ask a language model behind an OpenAI-compatible endpoint to rewrite, judge or write.",
        kind="model",
    ),
)
