"""Stages that find out what language a document is in."""
