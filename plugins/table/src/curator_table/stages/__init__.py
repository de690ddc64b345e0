"""Stages for tables of any content."""
