"""Stages that change documents, one idea a file."""
