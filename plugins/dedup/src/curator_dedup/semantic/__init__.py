"""Semantic deduplication: rows of any modality whose embeddings point in nearly the same direction."""
