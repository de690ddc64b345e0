"""CSV files: every column is text."""
