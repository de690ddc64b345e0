"""Stages that read documents."""
