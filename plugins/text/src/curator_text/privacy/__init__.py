"""Remove personal data, secrets and benchmark questions from documents."""
