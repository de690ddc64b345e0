"""Deduplication compared with datatrove, rensa, daft, datasketch, polars and scikit-learn, in one sitting."""
