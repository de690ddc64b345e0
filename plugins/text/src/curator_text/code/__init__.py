"""What only source code has: comments, docstrings, markup."""
