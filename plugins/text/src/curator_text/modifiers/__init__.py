"""Stages that change documents, one family a file."""
