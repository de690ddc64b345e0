"""Executors: the same plan, run in different ways."""
