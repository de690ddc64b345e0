"""Pipeline files: parsed, checked, and everything wrong with them reported with its line."""
