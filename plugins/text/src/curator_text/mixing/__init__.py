"""Bring documents into proportion: scores to buckets, sampling, shuffling, blending, statistics."""
