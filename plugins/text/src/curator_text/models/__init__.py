"""Stages that run models over documents, and that count tokens."""
