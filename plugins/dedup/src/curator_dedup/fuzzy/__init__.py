"""Fuzzy deduplication: documents that share most of their shingles, found by MinHash and checked exactly."""
