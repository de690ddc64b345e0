"""Exact deduplication: documents, or any bytes, that are the same."""
