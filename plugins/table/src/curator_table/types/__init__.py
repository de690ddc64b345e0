"""Types of columns: found before a run, declared by the user, and held to by every file."""
