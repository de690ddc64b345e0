"""Take out of documents what must not be learned: personal data, secrets, benchmark questions."""
