"""Parquet files, read in batches of bounded size."""
