"""Quarantine of a run: where records are kept, and how they are resolved by a retry."""
