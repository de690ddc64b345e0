"""Stages that turn web pages into text."""
