"""Constructor parameters as configuration: read from signatures, checked, read back, secrets left out."""
