"""Images against their peers, and a run over real pictures."""
