"""Stages that identify the language of documents."""
