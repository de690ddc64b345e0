"""The engine's decisions in virtual time: what a run would do, and how long it would have to take at least."""
