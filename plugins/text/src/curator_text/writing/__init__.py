"""Stages that write documents."""
