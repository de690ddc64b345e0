"""The engine's actions carried out on Ray, and what happens there told to it as events."""
