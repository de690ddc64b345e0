"""Numbers about documents, computed over the bytes of a whole column."""
