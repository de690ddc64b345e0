"""Programs that run in a peer's own environment: what datatrove, NeMo Curator and data-juicer decide, and how fast.

They import nothing of curator; documents come and go as Parquet files.
"""
