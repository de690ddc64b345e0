"""Deduplication below the document: lines, or paragraphs, that stand elsewhere too."""
