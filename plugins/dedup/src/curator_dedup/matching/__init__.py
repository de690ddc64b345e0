"""From keys that documents share to a decision about each document: shared by exact and fuzzy deduplication."""
