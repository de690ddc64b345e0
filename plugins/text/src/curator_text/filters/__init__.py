"""Stages that drop documents, one family a file."""
