"""Perceptual deduplication: rows whose 64-bit perceptual hashes differ in few bits."""
