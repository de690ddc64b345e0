"""Perceptual deduplication: rows whose 64-bit hashes of what they look or sound like differ in few bits."""
