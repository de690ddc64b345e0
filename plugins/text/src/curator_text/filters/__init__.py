"""Stages that drop documents, one idea a file."""
