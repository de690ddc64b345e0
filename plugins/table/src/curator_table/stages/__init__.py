"""Stages that any table goes through, whatever its columns hold."""
