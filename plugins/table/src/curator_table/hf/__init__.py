"""Hugging Face datasets on disk."""
