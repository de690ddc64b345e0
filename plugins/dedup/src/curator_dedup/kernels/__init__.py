"""Compiled loops over the bytes of text columns. They release the GIL and make no Python object per document."""
