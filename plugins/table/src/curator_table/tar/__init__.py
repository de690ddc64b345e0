"""Tar archives of samples (WebDataset shards), read without extracting anything, and written."""
