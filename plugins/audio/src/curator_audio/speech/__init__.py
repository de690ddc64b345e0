"""Speech in recordings: where it is, how good it is, what is said, and whether a transcript is right."""
