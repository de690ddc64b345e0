"""Metrics of source code: comments, docstrings, markup."""
