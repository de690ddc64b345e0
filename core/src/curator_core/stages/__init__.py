"""Core's own stages: what every pipeline may need, whatever its modality."""
